"""The choice of the sentences of an answer: the likeliest, and others only if they are worth their words.

Plain Python."""

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from operator import mul
from types import MappingProxyType
from typing import NamedTuple

from embeddings.lexical.languages import detect_question_languages
from rag.extracting.candidates import asked_share, candidates_of, with_forms
from rag.extracting.company import COLONS, completing, document_of_year, heading, leading, steps_of
from rag.extracting.sentence_form import repeats_number
from rag.extracting.units import AnswerCandidate, Traits
from rag.types.context import Context

# Fitted by benchmarks/evaluation/fit_sentences.py; how good they are is in docs/evaluation.md.
WEIGHTS = Traits(
    similarity=0.91,
    before=0.67,
    coverage=6.92,
    headed=4.17,
    since=0.87,
    relevance=0.39,
    incomplete=-1.59,
    length=-0.52,
    fact=1.88,
    turn=0.60,
    term=2.82,
    kind=1.99,
    called=3.03,
    row=5.0,  # by hand: there were no tables among what the others were fitted on
    way=1.5,  # by hand: nor any manuals
)
# For a question in another language than the documents', fitted by benchmarks/evaluation/languages.py.
FOREIGN_WEIGHTS = Traits(
    similarity=4.65,
    before=0.0,
    coverage=8.18,
    headed=5.34,
    since=0.0,
    relevance=0.0,
    incomplete=0.0,
    length=-0.49,
    fact=2.24,
    turn=1.54,
    term=0.0,
    kind=0.0,
    called=0.86,
)
READING = 0.8  # of a reading's logit, by hand (docs/evaluation.md)
NEUTRAL = -4.0  # a reading that leaves the chance as it is
NOT_READ: Mapping[AnswerCandidate, float] = MappingProxyType({})
WHOLE = 0.9  # share of the question that a sentence holds to hold all of it
SHORTLIST = 24  # of the sentences are looked at for the form of an answer
MOST = 3  # sentences
MOST_WORDS = 100  # of several sentences
FOLLOWING = 2.5  # how much likelier one is that tells more of what is said
AS_LIKELY = 0.3  # as the first one: another sentence that is said, too...
LESS_LIKELY = 0.1  # ...and where nothing was read, or in another language than English, where less is known
REPEATED = 0.8  # of the shorter one's words: two sentences that share more tell the same


class Option(NamedTuple):
    """A sentence that may answer. chance: [0, 1], that it does; of all options together 1."""

    candidate: AnswerCandidate
    chance: float


def weights_for(question: str, context: Context) -> Traits:
    """Return those for a question in another language than all blocks, where it is known; else the usual."""
    asked, written = detect_question_languages(question), {block.language for block in context.blocks}
    return FOREIGN_WEIGHTS if asked and written.isdisjoint({"", *asked}) else WEIGHTS


def choose(
    question: str,
    context: Context,
    weights: Traits | None = None,
    readings: Mapping[AnswerCandidate, float] = NOT_READ,
    most: int = MOST,
    most_words: int = MOST_WORDS,
    as_likely: float = LESS_LIKELY,
) -> list[AnswerCandidate]:
    """Return at most `most` sentences, and more only of a list, the likeliest first.

    None for an empty context only. weights: else by the languages of question and context. readings: what a
    model says of some of the sentences, a logit that each answers. as_likely: as the first one, that another
    one must be.
    """
    candidates = candidates_of(question, context)
    weights = weights or weights_for(question, context)
    options = _as_read(_options(question, context, candidates, weights), readings)
    if not options:
        return []
    first = _most_asked(question, options[0].candidate, candidates, context)
    said = _with_what_it_needs(question, first, candidates, context, most_words)
    least = options[0].chance * as_likely
    for candidate, chance in options[1:]:
        leads = leading(candidate, candidates)
        likely = chance * (FOLLOWING if leads else 1.0) >= least
        fits = len(said) < most and _can_join(question, candidate, said, most_words)
        if likely and fits and set(leads) <= set(said):
            said.append(candidate)
    return said


def _most_asked(
    question: str, row: AnswerCandidate, candidates: Sequence[AnswerCandidate], context: Context
) -> AnswerCandidate:
    """Return for a row of a table the one that says all of the question that it says itself, and most beyond:
    "Services" for "Total", where the margin of services is asked for.
    """
    if not row.is_row:
        return row
    block = context.blocks[row.number - 1]
    rows = [one for one in candidates if one.is_row and one.number == row.number and one.own > row.own]
    asked = [one for one in rows if asked_share(question, one, block)]
    return max(asked, key=lambda one: len(one.own), default=row)


def _with_what_it_needs(
    question: str,
    one: AnswerCandidate,
    candidates: Sequence[AnswerCandidate],
    context: Context,
    most_words: int,
) -> list[AnswerCandidate]:
    """Return the sentence with what its colon promises, and what names its subject, if they fit."""
    said = [one]
    language, passage = context.blocks[one.number - 1].language, context.passages[one.unit.passage]
    needed = completing(one, candidates) + leading(one, candidates)
    steps = steps_of(question, one, candidates, language)
    if one.length + sum(each.length for each in steps) <= most_words:
        needed += [step for step in steps if step not in needed]
    needed += heading(question, one, language)
    needed += document_of_year(question, one, [one, *needed], passage)
    for other in needed:
        if sum(each.length for each in said) + other.length > most_words:
            break
        said.append(other)
    return said


def options_of(
    question: str,
    context: Context,
    weights: Traits = WEIGHTS,
    candidates: list[AnswerCandidate] | None = None,
) -> list[Option]:
    """Return the sentences that may answer, the likeliest first. candidates: of the context, if at hand."""
    return _options(question, context, candidates or candidates_of(question, context), weights)


def _options(
    question: str, context: Context, candidates: list[AnswerCandidate], weights: Traits
) -> list[Option]:
    short = nlargest(SHORTLIST, stating(candidates), key=lambda one: _dot(weights, one.traits))
    scores = [_dot(weights, with_forms(question, one, context)) for one in short]
    highest = max(scores, default=0.0)
    odds = [math.exp(score - highest) for score in scores]
    mass = sum(odds)
    options = [Option(one, odd / mass) for one, odd in zip(short, odds, strict=True)]
    return sorted(options, key=lambda option: -option.chance)


def _as_read(options: Sequence[Option], readings: Mapping[AnswerCandidate, float]) -> list[Option]:
    """Return the options with the chance that they have by what the model says of those that it read."""
    worth = [
        one.chance * math.exp(READING * (readings.get(one.candidate, NEUTRAL) - NEUTRAL)) for one in options
    ]
    mass = sum(worth)
    read = [one._replace(chance=each / mass) for one, each in zip(options, worth, strict=True)]
    return sorted(read, key=lambda option: -option.chance)


def stating(candidates: list[AnswerCandidate]) -> list[AnswerCandidate]:
    """Leave out code and what only names something else, unless there is nothing else."""
    worded = [one for one in candidates if one.worded and not one.naming]
    return [one for one in worded if not one.code] or worded or candidates


def _dot(weights: Traits, traits: Traits) -> float:
    return float(sum(map(mul, weights, traits)))


def _can_join(
    question: str, candidate: AnswerCandidate, said: Sequence[AnswerCandidate], most_words: int
) -> bool:
    """Tell whether it fits, says something else, and tells of the same thing.

    Where the first holds all of the question, another block that holds less of it tells of something else: of
    the south tower, not the north.
    """
    first = said[0]
    as_first = candidate.number == first.number and candidate.own == first.own
    if candidate.is_row and not (candidate.own > first.own or as_first):
        return False  # rows beside the one that is asked for
    whole = first.traits.coverage >= WHOLE
    if whole and candidate.number != first.number and candidate.asked < first.asked:
        return False
    if candidate.text.endswith(COLONS):
        return False  # without room for what it promises
    if first.unit.complete and not (candidate.unit.complete or candidate.is_row):
        return False  # a line, a heading or a cell
    if repeats_number(question, candidate.text, (one.text for one in said)):
        return False
    if candidate.length + sum(one.length for one in said) > most_words:
        return False
    return not _is_repeated(candidate, said)


def _is_repeated(one: AnswerCandidate, said: Sequence[AnswerCandidate]) -> bool:
    """Tell whether it says again what is said, word for word or with nearly all its words."""
    if any(one.text in other.text or other.text in one.text for other in said):
        return True
    words = one.unit.words
    return any(
        len(words & other.unit.words) > REPEATED * min(len(words), len(other.unit.words)) for other in said
    )
