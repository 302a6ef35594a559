"""The words of a sentence as they are compared: stems, names, numbers with their units. Plain Python."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from embeddings.lexical import lexemes
from rag.checking import numbers, vocabulary
from rag.checking.days import NUMERIC, spelled
from rag.checking.numbers import Number

Kind = Literal["word", "name", "stop", "number", "unspaced", "mark"]
KEPT_STATEMENTS, KEPT_WORDS, KEPT_TOKENS = 4096, 65_536, 16_384
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_DIGITS = r"\d{1,400}(?:[.,]\d{1,40}){0,20}"
_MARKS = r"(?<=\w)[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0d7f]"
_TOKEN = re.compile(
    rf"""
      (?=[-−–+$€£¥U\d])  # what a number begins with: nothing else of it is tried at a letter
      (?P<sign>(?:(?<![^\s(\[=:~])[-−–+](?=[$€£¥]?[ ]?\d))?)(?P<currency>(?:(?:US)?[$€£¥][ ]?)?)
      (?P<digits>(?<![^\W_{UNSPACED}]){_DIGITS})
      (?P<suffix>(?:[ ]?[%‰°](?:[CF]\b)?|[^\W\d_{UNSPACED}]{{1,12}})?)
    | (?P<unspaced>[{UNSPACED}]+)
    | (?P<word>[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|{_MARKS})*(?:'[^\W\d_]{{1,3}}\b)?)
    | (?P<mark>[,;:.!?()\[\]"—–。，、；：！？「」『』《》<>≥≤])
    """,
    re.VERBOSE,
)
_GROUPS = re.compile(r"(?<=\d)[\u00a0\u202f\u2009'](?=\d{3}(?!\d))")
_MARKER = re.compile(r"[ ]?\[\d{1,4}(?:[ ]?[,;–-][ ]?\d{1,4}){0,9}\]")
_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐\xad¬][ \t]*\n\s*(?=[^\W\d_])")
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,8}")
_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛‹›´ʼ", "'"), "\xad": "", "\u200b": ""}
)
_PLAIN = str.maketrans({"*": "", "`": "", "‐": "-", "‑": "-"})


_PRONOUN_ONE = frozenset(
    [
        "of",
        "another",
        "must",
        "can",
        "may",
        "might",
        "should",
        "could",
        "has",
        "who",
        "or",
        "such",
        "day",
        "time",
    ]
)
_OPENS = frozenset(':.!?"。！？')


class Token(NamedTuple):
    """stem: what it is compared by. joined: of a part of a compound with a hyphen, the whole without it.

    clause: 0-based. first: it begins the sentence. run: number of the names that follow each other, or -1.
    aside: in brackets. after: the mark that stands before it. owner: it ends with "'s".
    """

    text: str
    stem: str
    kind: Kind
    clause: int
    first: bool = False
    joined: str = ""
    run: int = -1
    number: Number | None = None
    aside: bool = False
    after: str = ""
    owner: bool = False


def prepared(text: str) -> str:
    """One kind of quotes and spaces, without emphasis and markers, and no word in two pieces."""
    text = _GROUPS.sub("", text)
    if "[" in text:
        text = _MARKER.sub("", text)
    if "\n" in text:
        text = _LINE_HYPHEN.sub("-", text)
    if not text.isascii():  # what is has one kind of each
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return _DOTTED.sub(lambda found: found[0].replace(".", ""), text.translate(_PLAIN))


@lru_cache(maxsize=KEPT_WORDS)
def stem_of(word: str, language: str) -> str:
    """ "" for a stop word."""
    found = lexemes(word, language)
    stem = found[0] if found else ""
    if language in ("", "en"):
        stem = vocabulary.SAME.get(word, vocabulary.SAME.get(stem, stem))
    elif language == "de":
        stem = vocabulary.SAME_GERMAN.get(word, stem)
    return stem


def tokens_of(text: str, language: str = "") -> list[Token]:
    """All of a sentence, marks too; clauses are not told apart yet."""
    made: list[Token] = []
    begins, depth = True, 0
    text = prepared(text)
    if NUMERIC.search(text):
        text = spelled(text, language)
    found = list(_TOKEN.finditer(text))
    has_compound = "-" in text
    for place, match in enumerate(found):
        kind = match.lastgroup
        if kind == "mark":
            depth = max(0, depth + (match[0] in "([") - (match[0] in ")]"))
            made.append(Token(match[0], "", "mark", 0))
            begins = match[0] in _OPENS or (begins and match[0] in "([")
            continue
        if kind == "suffix":  # the last part of a number, be it empty
            made.append(_number(match, language))
        elif kind == "unspaced":
            made.append(Token(match[0], match[0], "unspaced", 0, begins))
        else:
            compound = _compound(text, found, place) if has_compound else ""
            made.append(_word(match[0], language, begins, compound))
        begins = False
        if depth:
            made[-1] = made[-1]._replace(aside=True)
    return made


def tokens_before_numbers(text: str, language: str = "") -> Iterator[Token]:
    """Its words, one after the other, as far as neither a number nor a script without spaces is met.

    All as if they began the sentence and were no part of a compound.
    """
    for match in _TOKEN.finditer(prepared(text)):
        if match.lastgroup in ("suffix", "unspaced"):
            return
        if match.lastgroup == "word":
            token = _word(match[0], language, True, "")
            if token.number is not None:
                return
            yield token


def _compound(text: str, found: list[re.Match[str]], place: int) -> str:
    """The compound that the word is a part of, joined; "" if it is none."""
    start, end = found[place].span()
    if text[start - 1 : start] != "-" and text[end : end + 1] != "-":
        return ""
    parts = [found[place][0]]
    for step in (-1, 1):
        at = place
        while 0 <= at + step < len(found) and len(parts) < 5:
            one, other = sorted((at, at + step))
            if text[found[one].end() : found[other].start()] != "-" or found[at + step]["word"] is None:
                break
            at += step
            parts.insert(0 if step < 0 else len(parts), found[at][0])
    return "".join(parts).lower() if len(parts) > 1 else ""


@lru_cache(maxsize=KEPT_TOKENS)
def _word(text: str, language: str, begins: bool, compound: str) -> Token:
    folded = text.lower()
    bare = folded.removesuffix("'s").removesuffix("'")
    value = numbers.in_words(bare, language)
    if value is not None:
        return Token(folded, "", "number", 0, begins, number=Number(value, value))
    value = numbers.ordinal(bare)
    if value is not None:
        return Token(folded, "", "number", 0, begins, number=Number(value, value, ordinal=True))
    shortened = len(bare) > 1 and text[: len(bare)].isupper()
    stem = bare if shortened else stem_of(folded, language)
    if text == "A" and not begins:  # a label: "vitamin A"
        return Token(folded, folded, "name", 0)
    if not stem or bare in vocabulary.EMPTY:
        return Token(folded, bare, "stop", 0, begins)
    named = text[0].isupper() or any(map(str.isdigit, text))
    joined = stem_of(compound, language) if compound else ""
    return Token(bare, stem, "name" if named else "word", 0, begins, joined, owner=bare != folded)


def _number(match: re.Match[str], language: str) -> Token:
    suffix = match["suffix"].strip().lower()
    power, unit = numbers.power_of(suffix), numbers.unit_of(suffix)
    currency = numbers.unit_of(match["currency"].strip().lower().removeprefix("us"))
    ordinal = suffix in ("st", "nd", "rd", "th")
    if currency and suffix in ("m", "b"):
        power = 6 if suffix == "m" else 9
    elif suffix and not (power or unit or ordinal or suffix == "s"):
        code = f"{match['digits']}{suffix}"
        return Token(code, code, "number", 0, number=Number(code, code))
    sign = "-" if match["sign"] in ("-", "−", "–") else ""
    value = sign + numbers.parsed(match["digits"], language)
    made = Number(numbers.scaled(value, power) if power else value, value, currency or unit, ordinal=ordinal)
    return Token(match[0].lower(), "", "number", 0, number=made)


def with_units(found: list[Token]) -> Iterator[Token]:
    """Scales and units that follow a number join it, and are no words of their own any more."""
    place = 0
    if any(token.text in ("half", "minus") for token in found):
        found = _halves(found)
    while place < len(found):
        token = found[place]
        place += 1
        if token.number is None:
            yield token
            continue
        if token.text == "one" and place < len(found) and found[place].text in _PRONOUN_ONE:
            yield token._replace(kind="stop", number=None)
            continue
        if token.text == "one" and _is_no_number(found, place):
            yield token._replace(kind="stop", number=None)
            continue
        number, taken = token.number, place
        tens = (
            number.value in ("20", "30", "40", "50", "60", "70", "80", "90") and not token.text[0].isdigit()
        )
        if tens and taken < len(found) and (ones := found[taken].number) and len(ones.value) == 1:
            value = str(int(number.value) + int(ones.value))
            number, taken = Number(value, value, ordinal=ones.ordinal), taken + 1
        while taken < len(found) and (power := _power(found[taken], number)):
            number, taken = number._replace(value=numbers.scaled(number.value, power)), taken + 1
        if taken < len(found) and not number.unit:
            unit, words = _unit(found, taken)
            number, taken = number._replace(unit=unit), taken + words
        number = number._replace(bound=_bound(found, place - 1))
        yield token._replace(number=number)
        for consumed in found[place:taken]:
            yield consumed._replace(kind="stop")
        place = taken


def _is_no_number(found: Sequence[Token], behind: int) -> bool:
    """Of "one": whether it is a fraction's, as in "one third", or stands for a noun, as in "the old one"."""
    following = found[behind] if behind < len(found) else None
    if following and following.number:
        return following.number.ordinal
    ends = following is None or following.kind == "mark"
    return ends and behind > 1 and found[behind - 2].kind == "word"


def _halves(found: Sequence[Token]) -> list[Token]:
    """With "half an hour" as a number of hours, and the sign of "minus 5"."""
    made: list[Token] = []
    for place, token in enumerate(found):
        before = made[-1] if made else None
        if before and before.text == "minus" and token.number and not token.number.value.startswith("-"):
            value, plain = f"-{token.number.value}", f"-{token.number.unscaled}"
            made[-1] = before._replace(kind="stop", stem="")
            token = token._replace(number=token.number._replace(value=value, unscaled=plain))
        elif before and before.text == "half" and _begins_a_unit(found, place):
            made[-1] = before._replace(stem="", kind="number", number=Number("0.5", "0.5"))
            continue
        made.append(token)
    return made


def _begins_a_unit(found: Sequence[Token], place: int) -> bool:
    """Of "an hour", which has been written as "per hour"."""
    behind = found[place + 1].text if place + 1 < len(found) else ""
    return found[place].text in ("a", "an", "per") and numbers.unit_of(behind) != ""


def _power(token: Token, number: Number) -> int:
    if token.text == "hundred":
        return 2
    power = numbers.power_of(token.text)
    return power if len(token.text) > 1 or token.kind == "unspaced" else 0


def _unit(found: list[Token], place: int) -> tuple[str, int]:
    """The unit that begins there, and how many tokens it takes; ("", 0) for none."""
    words = [token.text for token in found[place : place + 2]]
    if words[0] == "per" and words[-1] == "cent":
        return "%", 2
    if words[0] in ("percentage", "prozentpunkte", "prozentpunkten") and (
        words[-1].startswith("point") or len(words[0]) > 10
    ):
        return "pp", 2 if words[0] == "percentage" else 1
    if words[0] == "us" and words[-1] in ("dollar", "dollars"):
        return "usd", 2
    unit = numbers.unit_of(words[0])
    if unit in ("in", "m") and words[0] == "in":
        return "", 0
    return unit, 1 if unit else 0


def _bound(found: list[Token], place: int) -> str:
    before = [token.text for token in found[max(0, place - 3) : place]]
    pair = tuple(before[-2:])
    if pair in vocabulary.BOUNDS:
        bound = vocabulary.BOUNDS[pair]
        denied = len(before) > 2 and before[0] in ("no", "not", "nicht")
        return {"<": ">", ">": "<"}[bound] if denied else bound
    return vocabulary.BOUND_WORDS.get(before[-1], "") if before else ""
