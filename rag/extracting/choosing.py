"""Which sentences are said: the likeliest, and others only if they are worth their words. Plain Python."""

import math
from collections.abc import Sequence
from heapq import nlargest
from operator import mul
from typing import NamedTuple

from rag.extracting.candidates import Candidate, Traits, candidates_of, with_forms
from rag.types import Context

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
)
WHOLE = 0.9  # share of the question that a sentence holds to hold all of it
SHORTLIST = 20  # of the sentences are looked at for the form of an answer
JOINING = 10  # of the likeliest can be said besides the first
MOST = 3  # sentences
MOST_WORDS = 90  # of several sentences
LEAST = 0.04  # chance of answering that a sentence must have for each one that is said already...
WORTH = 0.0025  # ...and for each of its words...
BESIDES = 3  # ...and as many more
FOLLOWING = 2.5  # how much likelier one is that goes on from what is said
LEADING = 2.0  # ...or that leads to it
REPEATED = 0.5  # share of the chance that goes where all its words have been said


class Option(NamedTuple):
    """chance: [0, 1], that it answers the question; of all options together 1."""

    candidate: Candidate
    chance: float


def choose(question: str, context: Context, weights: Traits = WEIGHTS) -> list[Candidate]:
    """At most `MOST`, the likeliest first; none for an empty context only."""
    options = options_of(question, context, weights)
    said = [option.candidate for option in options[:1]]
    worthy = [option for option in options[1:JOINING] if option.chance * FOLLOWING >= LEAST]
    while said and len(said) < MOST:
        joining = [option for option in worthy if _can_join(option.candidate, said)]
        best = max(joining, key=lambda option: _chance(option, said), default=None)
        if best is None or _chance(best, said) < _least(best.candidate, said):
            break
        said.append(best.candidate)
    return said


def options_of(question: str, context: Context, weights: Traits = WEIGHTS) -> list[Option]:
    """The likeliest first."""
    candidates = stating(candidates_of(question, context))
    short = nlargest(SHORTLIST, candidates, key=lambda one: _dot(weights, one.traits))
    scores = [_dot(weights, with_forms(question, one, context)) for one in short]
    highest = max(scores, default=0.0)
    odds = [math.exp(score - highest) for score in scores]
    mass = sum(odds)
    options = [Option(one, odd / mass) for one, odd in zip(short, odds, strict=True)]
    return sorted(options, key=lambda option: -option.chance)


def stating(candidates: list[Candidate]) -> list[Candidate]:
    """Without what only names something else, unless there is nothing else."""
    return [one for one in candidates if not one.naming] or candidates


def _dot(weights: Traits, traits: Traits) -> float:
    return float(sum(map(mul, weights, traits)))


def _can_join(candidate: Candidate, said: Sequence[Candidate]) -> bool:
    """It fits, says something else, and tells of the same thing.

    Where the first holds all of the question, another block that holds less of it tells of something else: of
    the south tower, not the north.
    """
    first = said[0]
    whole = first.traits.coverage >= WHOLE
    if whole and candidate.number != first.number and candidate.asked < first.asked:
        return False
    if candidate.length + sum(one.length for one in said) > MOST_WORDS:
        return False
    return not any(one.text in candidate.text or candidate.text in one.text for one in said)


def _least(candidate: Candidate, said: Sequence[Candidate]) -> float:
    return max(LEAST * len(said), WORTH * (candidate.length + BESIDES))


def _chance(option: Option, said: Sequence[Candidate]) -> float:
    one = option.candidate
    words = one.unit.words
    repeated = max(len(words & other.unit.words) for other in said) / max(1, len(words))
    steps = [one.place - other.place for other in said if one.number == other.number]
    adjoining = FOLLOWING if 1 in steps else LEADING if -1 in steps else 1.0
    return option.chance * adjoining * (1 - REPEATED * repeated)
