"""Made-up facts, no two alike, and files that hold them."""

from collections.abc import Iterable

from tests.support.pdf import make_pdf

_ONSETS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
FACTS_PER_PAGE = 20


def place(number: int) -> str:
    """A name of three syllables; different for each number up to 343,000."""
    syllables = []
    for _ in range(3):
        number, rest = divmod(number, len(_ONSETS) * len(_VOWELS))
        syllables.append(_ONSETS[rest % len(_ONSETS)] + _VOWELS[rest // len(_ONSETS)])
    return "".join(syllables).capitalize()


def fact(number: int) -> str:
    return (
        f"The lighthouse of {place(number)} was finished in the year {1500 + number % 500} "
        f"and stands {number + 20} metres above the harbour."
    )


def question(number: int) -> str:
    return f"When was the lighthouse of {place(number)} finished?"


def facts_pdf(count: int, *, first: int = 0, title: str = "Lighthouses") -> bytes:
    """Facts first … first + count - 1, twenty to a page."""
    pages = [
        range(n, min(n + FACTS_PER_PAGE, first + count)) for n in range(first, first + count, FACTS_PER_PAGE)
    ]
    return make_pdf(*(" ".join(map(fact, page)) for page in pages), title=title)


def markdown(title: str, sections: Iterable[tuple[str, str]]) -> bytes:
    parts = [f"# {title}", *(f"## {heading}\n\n{text}" for heading, text in sections)]
    return "\n\n".join(parts).encode()
