"""Claims that say of one thing what their sentence says of another one beside it. Plain Python."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from rag.checking import grammar, vocabulary
from rag.checking.phrases import ENDS, Part, key_of, marker_of, parts_of
from rag.checking.statements import Statement


def parts_agree(claim: Statement, said: Statement) -> bool:
    """Of "A breaks it and B removes it" nothing is left in "A removes it"."""
    there = parts_of(said)
    if len(there) < 2:
        return True
    crossing = _Crossing(claim, said, there)
    return not any(crossing.found(part) for part in parts_of(claim))


class _Crossing:
    def __init__(self, claim: Statement, said: Statement, there: Sequence[Part]) -> None:
        self._claim, self._said, self._there = claim, said, there
        self._held = Counter(key for part in there for key in part.keys)
        self._subject: frozenset[str] = frozenset()
        ends = (said.tokens[part.start].after in ENDS for part in there)
        self._sentences = list(accumulate(ends))  # of each part, the number of its own

    def found(self, part: Part) -> bool:
        """Whether this part of the claim takes its subject from one part of the sentence and says of it what
        another part says of something else."""
        subject = self._subject_of(part)
        if not subject:
            return bool(part.reference) and self._mixed(part.keys)
        words = part.keys | subject
        most = max(len(one.keys & subject) for one in self._there)
        home = [n for n, one in enumerate(self._there) if len(one.keys & subject) == most]
        near = {self._sentences[n] for n in home}
        strange = [n for n, sentence in enumerate(self._sentences) if n not in home and sentence in near]
        if not most:
            return False
        words -= self._given(home, words)
        return (
            any(self._is_of_another(n, subject, words) for n in strange)
            or self._mixed(words)
            or any(self._is_without_its_verb(n, words) for n in range(len(self._there)))
            or any(self._is_of_a_part(n, words) for n in range(len(self._there)))
            or any(self._is_said_of_the_other(n, subject, words) for n in home)
        )

    def _is_said_of_the_other(self, n: int, subject: frozenset[str], words: frozenset[str]) -> bool:
        """Whether the subject stands in a relative clause, and what is said of it behind that: "the minister,
        whom the press attacked, resigned"."""
        part = self._there[n]
        if part.joint not in grammar.RELATIVE or not n or n + 1 == len(self._there):
            return False
        behind = self._there[n + 1]
        antecedent = _antecedent(self._said, part.start)
        goes_on = not (behind.joint or behind.subject or behind.reference)
        return (
            goes_on and antecedent.isdisjoint(words) and not words.isdisjoint(self._only_in(n + 1) - subject)
        )

    def _is_without_its_verb(self, n: int, words: frozenset[str]) -> bool:
        """Whether the claim takes something of a relative clause, and its verb of another part: of "Ann, who
        joined as head, was made chief" nothing is left in "Ann was made head"."""
        part, tokens = self._there[n], self._said.tokens
        if part.reference not in grammar.RELATIVES or not tokens[part.start].after:
            return False
        verb = (part.verb if part.verb >= 0 else part.start) + 1
        if verb >= part.end or not key_of(tokens[verb]) or tokens[verb].stem in words:
            return False
        following = [key for m in range(n + 1, len(self._there)) for key in self._only_in(m)]
        return not words.isdisjoint(self._only_in(n)) and not words.isdisjoint(following)

    def _is_of_a_part(self, n: int, words: frozenset[str]) -> bool:
        """Whether the claim says of all what is said of a share: "a third of them in Poland"."""
        part, tokens = self._there[n], self._said.tokens
        for at in range(part.start + 1, part.end - 1):
            if tokens[at].text == "of" and tokens[at + 1].text in grammar.THEM:
                shares = set(map(key_of, tokens[part.start : at])) - {""}
                rest = set(map(key_of, tokens[at + 2 : part.end])) & self._only_in(n)
                return bool(shares) and words.isdisjoint(shares) and not words.isdisjoint(rest)
        return False

    def _given(self, home: Sequence[int], words: frozenset[str]) -> set[str]:
        """What the part itself stands for, of the one before it: a time, an object, a verb."""
        found: set[str] = set()
        for n in filter(None, home):
            part = self._there[n]
            tokens = self._said.tokens[part.start : part.end]
            if part.joint in grammar.PLACES:
                found |= _antecedent(self._said, part.start)
            if not self._only_in(n) <= words:
                continue
            if any(token.text in grammar.OBJECT_PRONOUNS for token in tokens):
                before = self._only_in(n - 1)
                found |= {key for key in before if self._marker(n - 1, key) not in grammar.AGENTS}
            if part.joint in grammar.GOING_ON and part.verb < 0:
                found |= self._verb_of(n - 1)
        return found

    def _verb_of(self, n: int) -> set[str]:
        place = self._there[n].verb + 1
        return {self._said.tokens[place].stem} if place else set()

    def _subject_of(self, part: Part) -> frozenset[str]:
        """Of the part, or else of the one before."""
        tokens = self._claim.tokens
        if part.reference in grammar.RELATIVES:
            return frozenset(_antecedent(self._claim, part.start))
        if part.reference:
            return frozenset()
        first = next((key for token in tokens[part.start : part.end] if (key := key_of(token))), "")
        own = frozenset(part.subject) or (frozenset((first,)) if self._begins(part) else self._subject)
        if not part.joint or part.subject:
            self._subject = own
        return own

    def _begins(self, part: Part) -> bool:
        """The claim itself, be it behind "In the study,"."""
        tokens = self._claim.tokens
        if not part.start:
            return True
        alone = grammar.AUXILIARY.isdisjoint(token.text for token in tokens[: part.start])
        return alone and tokens[part.start].after == "," and tokens[0].text in grammar.CASES

    def _only_in(self, n: int) -> frozenset[str]:
        return frozenset(key for key in self._there[n].keys if self._held[key] == 1)

    def _is_of_another(self, n: int, subject: frozenset[str], words: frozenset[str]) -> bool:
        part = self._there[n]
        if not (self._only_in(n) & words) - subject:
            return False
        if part.subject:
            if part.subject[-1] in subject and not subject <= self._there[n].keys and _others(part, subject):
                return True
            return part.subject[-1] not in words or self._has_another_doer(n, words)
        if part.reference in grammar.RELATIVES:
            return words.isdisjoint(_antecedent(self._said, part.start))
        if part.reference:
            return self._is_doubtful(n, subject)
        goes_on = part.joint in grammar.GOING_ON and part.verb >= 0
        return goes_on and self._is_no_subject(n, subject)

    def _has_another_doer(self, n: int, words: frozenset[str]) -> bool:
        """Whether the sentence says who did it, by name, and the claim in the active leaves that out."""
        part, tokens = self._there[n], self._said.tokens
        if not grammar.PASSIVE.isdisjoint(self._claim.texts):
            return False
        return any(
            tokens[at].text in grammar.AGENTS
            and tokens[at - 1].stem in words
            and tokens[at + 1].kind == "name"
            and tokens[at + 1].stem not in self._claim.stems
            for at in range(part.start + 1, part.end - 1)
        )

    def _is_doubtful(self, n: int, subject: frozenset[str]) -> bool:
        """Whether the pronoun may stand for another one: of two names, or behind "and" for no subject."""
        if self._there[n].joint in grammar.GOING_ON:
            return self._is_no_subject(n, subject)
        before = self._there[n].start
        runs = [run for run in self._said.runs if run[-1] < before]
        free = [run for run in runs if marker_of(self._said.tokens, run[0]) not in grammar.PLACING]
        persons = self._there[n].reference in ("he", "she", "er")
        return persons and len({self._said.tokens[run[-1]].stem for run in free}) > 1

    def _is_no_subject(self, n: int, subject: frozenset[str]) -> bool:
        """Whether the parts before are about something else, which goes on."""
        before = next((part for part in self._there[:n][::-1] if part.subject and part.verb >= 0), None)
        return before is not None and not subject <= set(before.subject)

    def _mixed(self, words: frozenset[str]) -> bool:
        """Of "good for A but bad for B", "bad for A": a word of one part with what belongs to the other."""
        return any(
            self._is_mixed(n, other, words)
            for n, part in enumerate(self._there)
            for other in (n - 1, n + 1)
            if 0 <= other < len(self._there) and self._stand_side_by_side(part, self._there[other])
        )

    def _stand_side_by_side(self, one: Part, other: Part) -> bool:
        """And the first is no relative clause: what it says may be said before the noun, too."""
        listed = "," in (self._said.tokens[one.start].after, self._said.tokens[other.start].after)
        return bool(one.joint or other.joint or listed) and one.joint not in grammar.RELATIVES

    def _is_mixed(self, n: int, other: int, words: frozenset[str]) -> bool:
        """Whether words of part n stand with a phrase of the other one, in the place of its own phrase."""
        own, strange = self._only_in(n), self._only_in(other)
        if not own & words or not strange & words or not own - words or not strange - words:
            return False
        left = {m for key in own - words if (m := self._marker(n, key)) and m != "<"}
        taken = {self._marker(other, key) for key in strange & words}
        return not left.isdisjoint(taken) or self._has_the_object_of(n, other, words)

    def _has_the_object_of(self, n: int, other: int, words: frozenset[str]) -> bool:
        """Of "peel A, slice B", "slice A": each part begins with its verb."""
        own, strange = self._there[n], self._there[other]
        verb, verbs = self._first(n), self._first(other)
        if own.reference or strange.reference or own.verb >= 0 or strange.verb >= 0:
            return False
        if own.subject not in ((), (verb,)) or strange.subject not in ((), (verbs,)):
            return False
        if verb not in words or verbs in words:
            return False
        left = {key for key in self._only_in(n) - {verb} if self._marker(n, key) in ("", "<")}
        taken = {key for key in self._only_in(other) & words if self._marker(other, key) in ("", "<")}
        return bool(left) and left.isdisjoint(words) and bool(taken)

    def _first(self, n: int) -> str:
        part = self._there[n]
        return next(key for token in self._said.tokens[part.start : part.end] if (key := key_of(token)))

    def _marker(self, n: int, key: str) -> str:
        part, tokens = self._there[n], self._said.tokens
        place = next(at for at in range(part.start, part.end) if key_of(tokens[at]) == key)
        return marker_of(tokens, place)


def _others(part: Part, subject: frozenset[str]) -> bool:
    """Whether the part is about one of the same family name: "John Miller", not "Jan Miller"."""
    return len(part.subject) > 1 and len(subject) > 1 and not set(part.subject) <= subject


def _antecedent(statement: Statement, place: int) -> set[str]:
    """What a relative clause that begins there is about: the noun before, with what it is "of"."""
    found: set[str] = set()
    tokens = statement.tokens
    for n in range(place - 1, -1, -1):
        token = tokens[n]
        if key := key_of(token):
            found.add(key)
        elif token.text in vocabulary.DETERMINERS:
            if not n or tokens[n - 1].text not in grammar.CASES:
                break
        elif token.text not in grammar.CASES:
            break
        if token.after:
            break
    return found
