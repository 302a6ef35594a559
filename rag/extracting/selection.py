"""The choice of the sentences of an answer: the likeliest, and others only if they are worth their words.

Plain Python."""

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from operator import mul
from types import MappingProxyType
from typing import NamedTuple

from embeddings.lexical.languages import detect_question_languages
from rag.extracting.candidates import (
    COLONS,
    AnswerCandidate,
    Traits,
    candidates_of,
    completing,
    leading,
    with_forms,
)
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
SHORTLIST = 12  # of the sentences are looked at for the form of an answer
JOINING = 10  # of the likeliest can be said besides the first
MOST = 3  # sentences
MOST_WORDS = 100  # of several sentences
LEAST = 0.04  # chance of answering that a sentence must have for each one that is said already...
WORTH = 0.0025  # ...and for each of its words...
BESIDES = 3  # ...and as many more
FOLLOWING = 2.5  # how much likelier one is that goes on from what is said
LEADING = 1.5  # ...or that leads to it
REPEATED = 0.8  # of the shorter one's words: two sentences that share more tell the same
SURE = -3.0  # a reading: where the first sentence's is at least that, another is said only...
NEARLY = 2.0  # ...if its own is at most so much lower


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
) -> list[AnswerCandidate]:
    """Return at most `most` sentences, and more only of a list, the likeliest first.

    None for an empty context only. weights: else by the languages of question and context. readings: what a
    model says of some of the sentences, a logit that each answers.
    """
    candidates = candidates_of(question, context)
    weights = weights or weights_for(question, context)
    options = _as_read(_options(question, context, candidates, weights), readings)
    said = [
        one for option in options[:1] for one in _with_what_it_needs(option.candidate, candidates, most_words)
    ]
    worthy = [option for option in options[1:JOINING] if option.chance * FOLLOWING >= LEAST]
    while said and len(said) < most:
        joining = [
            option
            for option in worthy
            if _can_join(option.candidate, said, most_words)
            and _reads_as_well(option.candidate, said[0], readings)
            and set(leading(option.candidate, candidates)) <= set(said)
        ]
        best = max(joining, key=lambda option: _chance(option, said), default=None)
        if best is None or _chance(best, said) < _least(best.candidate, said):
            break
        said.append(best.candidate)
    return said


def _with_what_it_needs(
    one: AnswerCandidate, candidates: Sequence[AnswerCandidate], most_words: int
) -> list[AnswerCandidate]:
    """Return the sentence with the one that names its subject, and what its colon promises, if they fit."""
    said = [one]
    for other in (*completing(one, candidates), *leading(one, candidates)):
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


def _can_join(candidate: AnswerCandidate, said: Sequence[AnswerCandidate], most_words: int) -> bool:
    """Tell whether it fits, says something else, and tells of the same thing.

    Where the first holds all of the question, another block that holds less of it tells of something else: of
    the south tower, not the north.
    """
    first = said[0]
    if candidate.is_row and not candidate.asked >= first.asked:
        return False  # rows beside the one that is asked for
    whole = first.traits.coverage >= WHOLE
    if whole and candidate.number != first.number and candidate.asked < first.asked:
        return False
    if candidate.text.endswith(COLONS):
        return False  # without room for what it promises
    if candidate.length + sum(one.length for one in said) > most_words:
        return False
    return not _is_repeated(candidate, said)


def _reads_as_well(
    candidate: AnswerCandidate, first: AnswerCandidate, readings: Mapping[AnswerCandidate, float]
) -> bool:
    """Tell whether it is worth saying beside a first one that answers by itself, as far as that was read."""
    reading = readings.get(first, SURE - 1)
    return reading < SURE or readings.get(candidate, -math.inf) >= reading - NEARLY


def _least(candidate: AnswerCandidate, said: Sequence[AnswerCandidate]) -> float:
    return max(LEAST * len(said), WORTH * (candidate.length + BESIDES))


def _chance(option: Option, said: Sequence[AnswerCandidate]) -> float:
    one = option.candidate
    steps = [one.place - other.place for other in said if one.number == other.number]
    return option.chance * (FOLLOWING if 1 in steps else LEADING if -1 in steps else 1.0)


def _is_repeated(one: AnswerCandidate, said: Sequence[AnswerCandidate]) -> bool:
    """Tell whether it says again what is said, word for word or with nearly all its words."""
    if any(one.text in other.text or other.text in one.text for other in said):
        return True
    words = one.unit.words
    return any(
        len(words & other.unit.words) > REPEATED * min(len(words), len(other.unit.words)) for other in said
    )
