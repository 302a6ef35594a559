"""Claims made of a text's own sentences: what still says the same, and what no longer does. Deterministic.

Each function takes a sentence (and what it is to be mixed with) and gives a claim, or "" where it cannot.
"""

import random
import re

NUMBER = re.compile(r"(?<![\w.,-])\d[\d.,]*\d(?![\w%])|(?<![\w.,-])\d(?![\w.,%])")
RUN = re.compile(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})*")
VERB = re.compile(
    r"\b(is|are|was|were|has|have|had|can|will|could|should|may|does|did|wird|wurde|war|ist|hat)\b"
)
DENIED = re.compile(r"\b(is|are|was|were|has|have|had|can|will|could|should|may|does|did|do) not (?!only)")
UNITS = {
    "years": "months",
    "days": "weeks",
    "months": "years",
    "weeks": "days",
    "hours": "minutes",
    "km": "miles",
    "metres": "feet",
    "meters": "feet",
    "miles": "kilometres",
    "percent": "percentage points",
    "million": "billion",
    "billion": "million",
    "mg": "kg",
    "kg": "mg",
    "%": " dollars",
    "µM": "mM",
    "ml": "l",
    "mm": "cm",
    "minutes": "hours",
}
UNIT = re.compile(r"(?<=\d)( ?)(" + "|".join(map(re.escape, UNITS)) + r")(?![\w])")
OPPOSITES = {
    "increased": "decreased",
    "increase": "decrease",
    "decreased": "increased",
    "before": "after",
    "after": "before",
    "more": "less",
    "less": "more",
    "higher": "lower",
    "lower": "higher",
    "first": "last",
    "last": "first",
    "north": "south",
    "south": "north",
    "largest": "smallest",
    "highest": "lowest",
    "most": "least",
    "all": "some",
    "east": "west",
    "west": "east",
    "above": "below",
    "gained": "lost",
    "won": "lost",
    "positive": "negative",
}
OPPOSITE = re.compile(r"\b(" + "|".join(OPPOSITES) + r")\b")
NO_NAMES = {
    "The",
    "There",
    "This",
    "These",
    "Our",
    "Its",
    "While",
    "When",
    "For",
    "With",
    "After",
    "June",
    "December",
    "All",
    "Most",
    "Many",
    "None",
    "Some",
    "Each",
    "Company",
}
WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
SAID_OTHERWISE = {
    " which ": " that ",
    " however,": "",
    " also ": " ",
    "approximately": "about",
    "about": "around",
    " in order to ": " to ",
    " such as ": " including ",
    "Additionally, ": "",
    "Furthermore, ": "",
    "In addition, ": "",
    "However, ": "",
    " built ": " constructed ",
    " began ": " started ",
    " has been ": " was ",
    " have been ": " were ",
    " upon ": " on ",
}


def flat(sentence: str) -> str:
    return " ".join(sentence.split())


# --- says the same -----------------------------------------------------------------------------------------


def itself(sentence: str) -> str:
    return flat(sentence)


def attributed(sentence: str) -> str:
    text = flat(sentence)
    small = text.split(" ")[0] in ("The", "In", "A", "It", "This", "These", "We", "On", "For", "At")
    return f"According to the document, {text[0].lower() if small else text[0]}{text[1:]}"


def opening_dropped(sentence: str) -> str:
    """Without what stands before the first comma."""
    opening, comma, rest = flat(sentence).partition(", ")
    return rest[:1].upper() + rest[1:] if comma and 1 < len(opening.split()) < 8 and _is_clause(rest) else ""


def ending_dropped(sentence: str) -> str:
    rest, comma, ending = flat(sentence).rpartition(", ")
    fits = comma and len(ending.split()) > 2 and _is_clause(rest) and not ending.startswith(("and ", "or "))
    return f"{rest}." if fits else ""


def opening_moved(sentence: str) -> str:
    """ "In 1870, it opened." -> "It opened in 1870.\""""
    opening, comma, rest = flat(sentence).rstrip(".").partition(", ")
    fits = comma and opening.startswith(("In ", "From ", "During ", "On ", "At ", "By ", "After ", "Before "))
    short = fits and len(opening.split()) < 7 and _is_clause(rest) and "," not in rest
    return f"{rest[0].upper()}{rest[1:]} {opening[0].lower()}{opening[1:]}." if short else ""


def otherwise(sentence: str) -> str:
    """Function words exchanged."""
    text = said = flat(sentence)
    for word, other in SAID_OTHERWISE.items():
        said = said.replace(word, other)
    return said if said != text else ""


def bracket_dropped(sentence: str) -> str:
    text = flat(sentence)
    said = re.sub(r" \([^()]{3,80}\)", "", text)
    return said if said != text and "(" not in said else ""


def numbers_spelled(sentence: str) -> str:
    text = flat(sentence)

    def spelled(match: re.Match[str]) -> str:
        digits = match[0]
        if digits.isdigit() and int(digits) in WORDS:
            return WORDS[int(digits)]
        return digits.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", digits) else digits

    said = re.sub(r"(?<=\d)%", " percent", NUMBER.sub(spelled, text))
    return said if said != text else ""


def active(sentence: str) -> str:
    """ "B was acquired by A in 2006." -> "A acquired B in 2006.\""""
    found = re.fullmatch(
        r"((?:The )?[A-Z]\w+(?: [A-Z]\w+)*) (?:was|were) (\w+ed) by "
        r"((?:the )?[A-Z]\w+(?: [A-Z]\w+)*)( in \d{4})?.*",
        flat(sentence),
    )
    return f"{found[3][0].upper()}{found[3][1:]} {found[2]} {found[1]}{found[4] or ''}." if found else ""


def merged(sentence: str, following: str) -> str:
    """Two sentences about the same, as one."""
    first, second = flat(sentence).rstrip("."), flat(following)
    begins = re.match(r"(It|He|She|They) (\w+)", second)
    fits = begins and len(first.split()) + len(second.split()) < 50
    return f"{first}, and {second[0].lower()}{second[1:]}" if fits else ""


def named(sentence: str, following: str) -> str:
    """The second sentence, with the name that its pronoun stands for."""
    begins = re.match(r"(It|He|She|They) ", flat(following))
    name = re.match(r"(?:The )?[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*", flat(sentence))
    return f"{name[0]} {flat(following)[begins.end() :]}" if begins and name and len(name[0]) > 4 else ""


# --- says something else -----------------------------------------------------------------------------------


def digit_altered(sentence: str, rng: random.Random) -> str:
    text = flat(sentence)
    found = list(re.finditer(r"\d", text))
    if not found:
        return ""
    place = rng.choice(found).start()
    digit = rng.choice([d for d in "123456789" if d != text[place]])
    return f"{text[:place]}{digit}{text[place + 1 :]}"


def name_altered(sentence: str, others: list[str], rng: random.Random) -> str:
    text = flat(sentence)
    found = list(RUN.finditer(text))
    known = text.lower()
    strange = [name for name in others if not any(word in known for word in name.lower().split())]
    if not found or not strange:
        return ""
    match = rng.choice(found)
    return f"{text[: match.start()]}{rng.choice(strange)}{text[match.end() :]}"


def names_exchanged(sentence: str) -> str:
    """Two names of one sentence in each other's place, with a verb between them."""
    text = flat(sentence)
    found = [
        m for m in re.finditer(r"[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})*", text) if m[0] not in NO_NAMES
    ]
    if len(found) != 2 or found[0][0] == found[1][0]:
        return ""
    between = text[found[0].end() : found[1].start()]
    if not re.search(r" (\w+ed|\w+s) ", between) or re.search(r"\b(and|or|with|between|is|are)\b|,", between):
        return ""
    return text[: found[0].start()] + found[1][0] + between + found[0][0] + text[found[1].end() :]


def numbers_exchanged(sentence: str) -> str:
    text = flat(sentence)
    found = list(NUMBER.finditer(text))
    if len(found) != 2 or found[0][0] == found[1][0]:
        return ""
    one, other = found
    return text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]


def denied(sentence: str) -> str:
    text = flat(sentence)
    found = VERB.search(text)
    if not found or re.search(r"\b(not|no|never|nor|nicht|kein\w*)\b", text):
        return ""
    word = "nicht" if found[0] in ("wird", "wurde", "war", "ist", "hat") else "not"
    return f"{text[: found.end()]} {word}{text[found.end() :]}"


def affirmed(sentence: str) -> str:
    text = flat(sentence)
    return DENIED.sub(r"\1 ", text, count=1) if DENIED.search(text) else ""


def unit_altered(sentence: str) -> str:
    text = flat(sentence)
    found = UNIT.search(text)
    if not found:
        return ""
    return f"{text[: found.start()]} {UNITS[found[2]].strip()}{text[found.end() :]}"


def opposed(sentence: str) -> str:
    text = flat(sentence)
    return OPPOSITE.sub(lambda found: OPPOSITES[found[0]], text, count=1) if OPPOSITE.search(text) else ""


def quote_invented(sentence: str, stranger: str) -> str:
    words = flat(stranger).split()[2:7]
    return f'{flat(sentence).rstrip(".")}, since "{" ".join(words)}".' if len(words) == 5 else ""


def word_altered(sentence: str, others: list[str], rng: random.Random) -> str:
    """A common word exchanged for one of another sentence."""
    text = flat(sentence)
    found = list(re.finditer(r"(?<= )[a-z]{5,}(?=[ .,])", text))
    strange = [word for word in others if word[:4] not in text]
    if len(found) < 2 or not strange:
        return ""
    match = rng.choice(found)
    return f"{text[: match.start()]}{rng.choice(strange)}{text[match.end() :]}"


def _is_clause(text: str) -> bool:
    return len(text.split()) > 4 and VERB.search(text) is not None and text.count("(") == text.count(")")
