"""Whether a sentence says what a claim says, as far as words can tell. Plain Python."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from rag.checking import grammar, vocabulary
from rag.checking.certainty import no_surer
from rag.checking.comparisons import comparisons_agree
from rag.checking.crossing import parts_agree
from rag.checking.links import links_agree
from rag.checking.negations import negations_agree
from rag.checking.numbers import Number, same_measure
from rag.checking.order import exchanged, is_compact
from rag.checking.prefixes import prefixes_agree
from rag.checking.roles import roles_agree
from rag.checking.scopes import scopes_agree
from rag.checking.statements import BEGINNING, Statement
from rag.checking.stretches import is_stretch
from rag.checking.subjects import subjects_agree
from rag.checking.tenses import limits_agree
from rag.checking.words import Token

NONE: frozenset[tuple[str, str]] = frozenset()
LONG = 6  # content words of a clause that may hold one more than the sentence, if it only joins the others
BINDING = frozenset("的了在是有和与與及也于於为為其之年月日个個们們這这那就都而且或被把从從到对對上中下内外")


def agrees(claim: Statement, said: Statement, known: frozenset[tuple[str, str]] = NONE) -> bool:
    """known: words that follow each other in the sentences before, where a name may stand in full."""
    return (
        numbers_agree(claim, said)
        and _words_agree(claim, said, known)
        and _opposites_agree(claim, said)
        and negations_agree(claim, said)
        and _runs_agree(claim, said, known)
        and is_compact(claim, said)
        and links_agree(claim, said)
        and no_surer(claim, said)
        and subjects_agree(claim, said)
        and not exchanged(claim, said)
        and relations_agree(claim, said)
    )


def facts_agree(claim: Statement, said: Statement) -> bool:
    """What no model may decide: numbers, names, negations, and who stands where."""
    return (
        numbers_agree(claim, said)
        and not any(claim.tokens[n].kind == "name" for n in missing(claim, said))
        and negations_agree(claim, said)
        and _runs_agree(claim, said, NONE)
        and links_agree(claim, said)
        and not exchanged(claim, said)
    )


def agrees_beside(claim: Statement, said: Statement, spare: Callable[[Token], bool]) -> bool:
    """As `agrees`, in words of its own: what is `spare` need not stand there, nor the rest in order."""
    return (
        numbers_agree(claim, said)
        and all(_is_light(claim.tokens[n]) or spare(claim.tokens[n]) for n in missing(claim, said))
        and _opposites_agree(claim, said)
        and negations_agree(claim, said)
        and _runs_agree(claim, said, NONE)
        and links_agree(claim, said)
        and no_surer(claim, said)
        and not exchanged(claim, said)
        and relations_agree(claim, said)
    )


def relations_agree(claim: Statement, said: Statement) -> bool:
    """Who does what to whom, what is compared with what, and when or for whom it is so."""
    return (
        prefixes_agree(claim, said)
        and comparisons_agree(claim, said)
        and (is_stretch(claim, said) or (roles_agree(claim, said) and parts_agree(claim, said)))
        and limits_agree(claim, said)
        and scopes_agree(claim, said)
    )


def missing(claim: Statement, said: Statement) -> list[int]:
    """Places of the claim's content words that the sentence lacks; numbers are another matter."""
    return [place for place in claim.content if not _held(claim.tokens[place], said)]


def share(claim: Statement, said: Statement) -> float:
    """[0, 1], of the claim's content words and numbers that the sentence holds."""
    if not claim.content:
        return 0.0
    lacking = len(missing(claim, said))
    if _counted(claim):
        lacking += sum(_lacks(token, said) for token in claim.tokens)
    return max(0.0, 1 - lacking / len(claim.content))


def numbers_agree(claim: Statement, said: Statement) -> bool:
    """All stand there, each as often as it is claimed."""
    if not _counted(claim):
        return True
    if any(_lacks(token, said) for token in claim.tokens):
        return False
    there = _values(said)
    return all(count <= there[value] for value, count in _values(claim).items() if count > 1)


def _values(statement: Statement) -> Counter[str]:
    return Counter(number.value for number in _counted(statement))


def _lacks(token: Token, said: Statement) -> bool:
    if not _counts(token) or token.number is None:
        return False
    return not any(_same(token.number, number, said) for number in _counted(said))


@lru_cache(maxsize=4096)
def _counted(statement: Statement) -> Sequence[Number]:
    return tuple(token.number for token in statement.tokens if token.number and _counts(token))


def _counts(token: Token) -> bool:
    return token.kind == "number"


def _same(number: Number, other: Number | None, said: Statement) -> bool:
    if other and number.unit and other.unit and number.unit != other.unit:
        return (number.bound, number.ordinal) == (other.bound, other.ordinal) and same_measure(number, other)
    if other is None or (number.value, number.bound, number.ordinal) != (
        other.value,
        other.bound,
        other.ordinal,
    ):
        return False
    return (
        not number.unit or number.unit == other.unit or (not other.unit and _unit_stands(number.unit, said))
    )


def _unit_stands(unit: str, said: Statement) -> bool:
    """In a table's head, for example."""
    return any(vocabulary.UNITS.get(text) == unit for text in said.texts if len(text) > 1)


def _held(token: Token, said: Statement) -> bool:
    if token.kind == "number":
        return True
    if token.kind == "unspaced":
        return _characters_held(token.text, said.pairs)
    if token.text in said.texts or token.joined in said.stems:
        return token.kind != "name" or token.first or not _only_a_prefix(token, said)
    if token.kind == "name" and not token.first and said.language in ("", "en"):
        return f"{token.text}s" in said.texts or token.text.removesuffix("s") in said.texts
    if token.stem in (said.names if token.kind == "name" and not token.first else said.stems):
        return True
    if vocabulary.STRICT.get(token.text) in vocabulary.ALIKE and token.kind != "name":
        side = vocabulary.STRICT[token.text]
        return any(vocabulary.STRICT.get(text) == side for text in said.texts)
    if token.kind != "word" or token.stem[:BEGINNING] not in said.beginnings:
        return False
    return any(_derived(token.stem, stem) for stem in said.stems)


def _only_a_prefix(token: Token, said: Statement) -> bool:
    """ "Pre" is no name where the sentence only has it in "pre-existing"."""
    there = [other for other in said.tokens if other.text == token.text]
    return bool(there) and all(other.joined and other.kind == "word" for other in there)


def _derived(one: str, other: str) -> bool:
    """ "settl" and "settler"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= BEGINNING and len(long) - len(short) <= 2 and long.startswith(short)


def _characters_held(run: str, pairs: frozenset[str]) -> bool:
    """Every character in a pair that stands there, but for those that only bind."""
    if len(run) == 1:
        return run in BINDING or any(run in pair for pair in pairs)
    around = (any(p in pairs for p in (run[max(0, n - 1) : n + 1], run[n : n + 2])) for n in range(len(run)))
    return all(held or _binds(character) for character, held in zip(run, around, strict=True))


def _binds(character: str) -> bool:
    return "\u3041" <= character <= "\u309f" or character in BINDING


def _words_agree(claim: Statement, said: Statement, known: frozenset[tuple[str, str]]) -> bool:
    lacking = [place for place in missing(claim, said) if not _lent(claim, place, said, known)]
    heavy = [n for n in lacking if not _is_light(claim.tokens[n]) or _in_place_of_another(claim, n, said)]
    if not heavy:
        return True
    return len(heavy) == 1 and _only_joins(claim, heavy[0], said)


def _is_light(token: Token) -> bool:
    return token.text in vocabulary.LIGHT and (token.kind == "word" or token.first)


def _only_joins(claim: Statement, place: int, said: Statement) -> bool:
    """Whether the word stands between two that follow each other in the sentence, in a long clause."""
    token = claim.tokens[place]
    if token.kind != "word" or token.text in vocabulary.STRICT or len(claim.content_of(token.clause)) < LONG:
        return False
    at = claim.content.index(place)
    if not 0 < at < len(claim.content) - 1:
        return False
    if claim.tokens[place + 1].text in grammar.AUXILIARY:  # what the clause is about
        return False
    first, last = claim.content[at - 1], claim.content[at + 1]
    before, after = claim.tokens[first].stem, claim.tokens[last].stem
    between = {token.text for token in claim.tokens[first + 1 : last]} | vocabulary.DETERMINERS
    return any(
        (said.tokens[one].stem, said.tokens[other].stem) == (before, after)
        and between.issuperset([token.text for token in said.tokens[one + 1 : other]])
        for one, other in pairwise(said.content)
    )


def _in_place_of_another(claim: Statement, place: int, said: Statement) -> bool:
    """Whether the sentence has something else between the words that it stands between."""
    if _stands_anywhere(claim, place):
        return False
    at = claim.content.index(place)
    if not 0 < at < len(claim.content) - 1:
        return False
    before, after = claim.tokens[claim.content[at - 1]].stem, claim.tokens[claim.content[at + 1]].stem
    words = [said.tokens[n] for n in said.content]
    for one, other, third in zip(words, words[1:], words[2:], strict=False):
        if (one.stem, third.stem) == (before, after) and other.stem not in claim.stems:
            return other.kind != "number" and other.text not in vocabulary.LIGHT
    return False


def _stands_anywhere(claim: Statement, place: int) -> bool:
    """Of a word that says nothing: "about" before a number, "however" before a clause, "must"."""
    token, following = claim.tokens[place], claim.tokens[place + 1 : place + 2]
    if token.text in vocabulary.ROUGHLY:
        return bool(following) and following[0].number is not None
    if token.text in vocabulary.LEADING:
        return not place or bool(token.after)
    return token.text in vocabulary.LOOSE


def _lent(claim: Statement, place: int, said: Statement, known: frozenset[tuple[str, str]]) -> bool:
    """Whether it is a part of a name that stands in full before, and of which the sentence has the rest.

    The rest must be no part of another name there: of "Summer Theatre" nothing is lent to "Great Theatre".
    """
    run = next((run for run in claim.runs if place in run), ())
    stems = [claim.tokens[n].stem for n in run]
    if len(stems) < 2 or not all(pair in known for pair in pairwise(stems)):
        return False
    own = [{said.tokens[n].stem for n in other} for other in said.runs]
    named = any(names <= set(stems) for names in own)
    return named or (not any(names & set(stems) for names in own) and stems[-1] in said.stems)


def _opposites_agree(claim: Statement, said: Statement) -> bool:
    if "any" in claim.texts and vocabulary.ANY.isdisjoint(said.texts) and not _denies(claim):
        return False  # of "an overdue invoice" it says "any invoice"
    sides, dimensions = _sides(said)
    for token in claim.tokens:
        side = vocabulary.STRICT.get(token.text)
        if side and side not in sides and token.kind != "number":
            return False
        dimension = vocabulary.DIMENSIONS.get(token.text)
        if dimension and dimensions and dimension not in dimensions:
            return False
    return True


@lru_cache(maxsize=4096)
def _sides(said: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """Those that its words are on, and the dimensions that it tells."""
    sides = frozenset(vocabulary.STRICT[text] for text in said.texts if text in vocabulary.STRICT)
    return sides, frozenset(
        vocabulary.DIMENSIONS[text] for text in said.texts if text in vocabulary.DIMENSIONS
    )


def _denies(claim: Statement) -> bool:
    """With "not" and its like, behind which "any" is no more than "a"."""
    texts = (claim.tokens[n].text for n in claim.negations)
    return any(text in vocabulary.PLAIN_DENIALS or text.endswith("n't") for text in texts)


def _runs_agree(claim: Statement, said: Statement, known: frozenset[tuple[str, str]]) -> bool:
    """The words of a name follow each other there, too."""
    for run in claim.runs:
        words = [claim.tokens[place] for place in run]
        for one, other in pairwise(words):
            pair = one.stem, other.stem
            if not one.first and pair not in said.next_to and pair not in known:
                return False
    return True
