"""Which sentences of a passage say what a claim says: one, or up to three that adjoin. Plain Python."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag.checking import vocabulary
from rag.checking.agreement import agrees
from rag.checking.negations import denies_no_more
from rag.checking.rewording import reworded
from rag.checking.statements import Statement, made_of, statement_of
from rag.checking.synonyms import in_its_words
from rag.checking.words import Token
from rag.sentences import Analysis

LOOKED_BACK = 30  # sentences in which a name may stand in full
AT_MOST = 3  # sentences of a quote
LEAST = 3  # content words of a clause that may stand in a sentence of its own; one less with an auxiliary
AUXILIARY = frozenset(["is", "are", "was", "were", "has", "have", "had"])
OPENING = 5  # words of a sentence among which its subject begins, or its pronoun stands


class Passage(NamedTuple):
    """A text with its sentences; each is taken apart when it is needed."""

    content: str
    language: str
    analysis: Analysis

    def said(self, place: int) -> Statement:
        sentence = self.analysis.sentences[place]
        return statement_of(self.content[sentence.start : sentence.end], self.language)

    def full_names(self, place: int) -> dict[str, set[tuple[str, ...]]]:
        """Their last words -> what they are in full, up to this sentence."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for n in range(max(0, place - LOOKED_BACK), place + 1):
            said = self.said(n)
            for run in said.runs:
                stems = tuple(said.tokens[at].stem for at in run)
                if len(stems) > 1:
                    found.setdefault(stems[-1], set()).add(stems)
        return found

    def span(self, first: int, last: int) -> tuple[int, int]:
        return self.analysis.sentences[first].start, self.analysis.sentences[last].end


def supporting(claim: Statement, passage: Passage, place: int) -> tuple[int, int] | None:
    """First and last of the sentences around `place` that support the claim, the fewest; None if none do."""
    for first, said, known in _readings(passage, place):
        if _agrees_somehow(claim, said, known):
            return first, place
    return _in_two(claim, passage, place)


def _agrees_somehow(claim: Statement, said: Statement, known: frozenset[tuple[str, str]]) -> bool:
    """As it stands, or in the words of the sentence."""
    if agrees(claim, said, known) or any(agrees(other, said, known) for other in reworded(claim, said)):
        return True
    own = in_its_words(claim, said)
    return own is not None and (
        agrees(own, said, known) or any(agrees(other, said, known) for other in reworded(own, said))
    )


def _readings(passage: Passage, place: int) -> Iterator[tuple[int, Statement, frozenset[tuple[str, str]]]]:
    """The sentence alone, then with what its pronouns and shortened names stand for in those before it."""
    said = passage.said(place)
    full = passage.full_names(place) if said.runs else {}
    yield place, said, frozenset()
    known = frozenset(
        pair for pairs in full.values() if len(pairs) == 1 for run in pairs for pair in pairwise(run)
    )
    for first in range(place - 1, max(-1, place - AT_MOST), -1):
        before = passage.said(first)
        known |= {pair for pair in before.next_to if len(full.get(pair[1], "1")) == 1}
        subject = _subject(before)
        yield first, _resolved(said, subject) if subject else said, known
        if subject and not _has_pronoun(before):
            return


def _subject(statement: Statement) -> tuple[Token, ...]:
    """The name that the sentence begins with, or else the words of its first noun."""
    opening = statement.tokens[:OPENING]
    run = next((run for run in statement.runs if run[0] < len(opening)), None)
    if run:
        return tuple(statement.tokens[n] for n in run)
    taken: list[Token] = []
    for token in opening:
        if token.kind == "word":
            taken.append(token)
        elif taken:
            break
    return tuple(taken)


def _has_pronoun(statement: Statement) -> bool:
    pronouns = vocabulary.pronouns(statement.language)
    return any(token.text in pronouns for token in statement.tokens[:OPENING])


def _resolved(said: Statement, subject: Sequence[Token]) -> Statement:
    """With the subject of the sentence before in the place of the pronoun that it begins with."""
    pronouns = vocabulary.pronouns(said.language)
    made: list[Token] = []
    replaced = False
    for place, token in enumerate(said.tokens):
        if token.text in pronouns and not replaced and place < OPENING:
            made += [one._replace(clause=token.clause, run=1000 if one.run >= 0 else -1) for one in subject]
            replaced = True
        else:
            made.append(token)
    return made_of(made, said.language) if replaced else said


def _in_two(claim: Statement, passage: Passage, place: int) -> tuple[int, int] | None:
    """The claim up to one of its "and"s in one sentence, the rest in another one close by, about the same."""
    near = [
        n for n in range(place - AT_MOST + 1, place + AT_MOST) if 0 <= n < len(passage.analysis.sentences)
    ]
    others = [n for n in near if n != place and _together_hold(claim, passage.said(place), passage.said(n))]
    for first, second in _halves(claim) if others else ():
        for other in others:
            for one, two in ((place, other), (other, place)):
                if _says(first, passage, one, ()) and _says(second, passage, two, _subject(claim)):
                    both = passage.said(one), passage.said(two)
                    return (min(one, two), max(one, two)) if all(_denies_no_more(claim, both)) else None
    return None


def _together_hold(claim: Statement, one: Statement, other: Statement) -> bool:
    """Nearly all of its words: a pronoun may stand for a few."""
    lacking = [
        n
        for n in claim.content
        if claim.tokens[n].stem not in one.stems | other.stems | one.pairs | other.pairs
    ]
    numbers = sum(claim.tokens[n].kind in ("number", "unspaced") for n in lacking)
    return len(lacking) - numbers <= len(claim.content) // 3


def _halves(claim: Statement) -> Iterator[tuple[Statement, Statement]]:
    joining = vocabulary.joining(claim.language)
    for n, token in enumerate(claim.tokens):
        if token.text in joining:
            halves = made_of(claim.tokens[:n], claim.language), made_of(claim.tokens[n:], claim.language)
            if all(map(_stands_alone, halves)):
                yield halves


def _stands_alone(half: Statement) -> bool:
    verbal = any(token.text in AUXILIARY for token in half.tokens)
    return len(half.content) >= LEAST - verbal


def _says(part: Statement, passage: Passage, place: int, subject: Sequence[Token]) -> bool:
    """subject: of the whole claim, which the sentence must be about unless the part has its own."""
    for _, said, known in _readings(passage, place):
        about = _names_itself(part) or all(token.stem in said.stems for token in subject)
        if about and _agrees_somehow(part, said, known):
            return True
    return False


def _denies_no_more(claim: Statement, sentences: Sequence[Statement]) -> Iterator[bool]:
    return (denies_no_more(claim, said) for said in sentences)


def _names_itself(part: Statement) -> bool:
    """Whether the clause has a subject of its own, rather than that of the claim."""
    opening = part.tokens[:3]
    joining, pronouns = vocabulary.joining(part.language), vocabulary.pronouns(part.language)
    begins = next((token for token in opening if token.text not in joining), None)
    if begins is None or begins.text in pronouns:
        return False
    return begins.kind == "name" or begins.text in vocabulary.DETERMINERS
