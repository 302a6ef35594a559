"""Running heads and feet: what stands at the top or the bottom of most pages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from documents.extractors.layout import line_key
from documents.extractors.looks import RawPage

_EDGE = 0.09  # of the page's height
_LARGER = 1.15  # times the size of most lines
_SHARE = 0.4  # of the pages; heads of left and right pages differ
_FEWEST = 3  # pages that say the same
_LONGEST = 120  # characters
_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,6}\b")


def running_lines(pages: Sequence[RawPage]) -> set[str]:
    """Keys of the lines that repeat, but for numbers in them; page numbers by themselves are among them."""
    shapes = [dict(_edge_lines(page)) for page in pages]
    counts = Counter(shape for of_page in shapes for shape in set(of_page.values()))
    enough = max(_FEWEST, _SHARE * len(pages))
    return {key for of_page in shapes for key, shape in of_page.items() if counts[shape] >= enough}


def _edge_lines(page: RawPage) -> Iterator[tuple[str, str]]:
    """(key, shape): in large letters a number makes a difference, as in "Chapter 2"."""
    if not page.height:
        return
    sizes = sorted(look.size for look in page.looks if look)
    for text, look in zip(page.text.split("\n"), page.looks, strict=False):
        if look and not _EDGE < look.baseline / page.height < 1 - _EDGE and len(text) <= _LONGEST:
            key = line_key(text)
            yield key, key if look.size > _LARGER * sizes[len(sizes) // 2] else _NUMBER.sub("#", key)
