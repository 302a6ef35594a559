"""Where in the text the entries of a PDF's outline begin."""

import re
from collections.abc import Sequence

from documents.extractors.cleaning import clean_label
from documents.extractors.pages import MAX_TITLE, OutlineEntry
from documents.types import Heading

_SEARCHED = 50_000  # characters of one page that are searched for a title


def place_headings(
    entries: Sequence[OutlineEntry], texts: Sequence[str], starts: Sequence[int]
) -> tuple[Heading, ...]:
    """Headings in order of start_char: where the title opens or ends a line of its page, else its start.

    texts, starts: of each page; `starts` counts in the document's text.
    """
    headings: list[Heading] = []
    last_page, last_end = -1, 0
    for entry in entries:
        title = clean_label(entry.title, max_chars=MAX_TITLE)
        if not title or not 0 <= entry.page_index < len(texts):
            continue
        search_from = last_end if entry.page_index == last_page else 0
        found = _find(title, texts[entry.page_index], search_from)
        at, end = found or (search_from if entry.page_index == last_page else 0, search_from)
        headings.append(Heading(entry.level, title, starts[entry.page_index] + at))
        last_page, last_end = entry.page_index, end
    return tuple(sorted(headings, key=lambda heading: heading.start_char))


def _find(title: str, text: str, search_from: int) -> tuple[int, int] | None:
    """(start, end) of the title in the page, however its lines are broken and whatever number leads it.

    Within a line only where it cannot be a word of a sentence: "Consistent hashing" is no heading "Hashing".
    What ends a long line may be one, unless a capital of its own, and the next line's, say otherwise.
    """
    words = r"\s+".join(re.escape(word) for word in title.split())
    opens = rf"(?i:^[\d.§ \t]{{0,12}}{words})(?!\w)"
    ends = rf"(?i:^[^\n]{{1,40}}(?<!\w){words}$)"
    inside = rf"(?<=[.!?:;)\d–—|][ \t]){words}(?!\w)"
    closes = rf"(?<=\S[ \t]){words}$(?=\n+[^\Wa-z_])" if title[0].isupper() else ends
    for pattern in (opens, ends, inside, closes):
        found = re.compile(pattern, re.MULTILINE).search(text, search_from, _SEARCHED)
        if found:
            return found.span()
    return None
