"""What ranking and checking read from a text: its sentences and which words stand in which. Plain Python.

Made once, when a chunk is stored, and written down as a text that is looked into, not parsed: a question has
ten words and twenty candidates, which have a hundred each.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from documents.text.sentences import sentence_spans, without_note
from documents.text.tables import read_rows
from documents.types import TableHead
from embeddings.lexical.terms import lexemes, term_weight

# Of `describe_sentences` and all that it rests on: sentence splitting, stop words, stems. Raise it with a
# change of these: workers then describe all chunks anew, and until then questions analyse what they meet.
VERSION = 7
_DEFINITION = re.compile(r"\S\n[ \t]{0,3}:[ \t]+\S")  # Markdown's "term", and a line below ": what it means"
_STATEMENT_ENDS = (".", "!", "…", "。", "！", "।")


def describe_sentences(content: str, language: str = "", table: TableHead | None = None) -> str:
    """Return the text that `Analysis` reads.

    Its first line has three numbers for each sentence: start, end, and 1 if it is complete, or 2 if it is a
    row of the table. Each other line is a lexeme and, for each of its occurrences, the 0-based number of the
    sentence; the number behind the last is the table's head, which is said of each row. All end with a line
    feed.
    """
    numbers: list[int] = []
    occurrences: defaultdict[str, list[str]] = defaultdict(list)
    spans = sentence_spans(content)
    rows = dict(read_rows(content, spans, table)) if table else {}
    for place, (start, end) in enumerate(spans):
        text = content[start:end]
        row = rows.get(place)
        numbers += start, end, 2 if row else int(_is_complete(text))
        for word in lexemes(f"{row.group} {text}" if row else text, language):
            occurrences[word].append(str(place))
    if table and rows:
        for word in dict.fromkeys(lexemes("\n".join(table.texts), language)):
            occurrences[word].append(str(len(spans)))
    head = " ".join(map(str, numbers))
    return "\n".join([head, *(f"{word} {' '.join(places)}" for word, places in occurrences.items()), ""])


def _is_complete(text: str) -> bool:
    ended = without_note(text).rstrip("\"'”’»)]」』）*_").endswith(_STATEMENT_ENDS)
    return ended or _DEFINITION.search(text) is not None


@dataclass(frozen=True, slots=True)
class Sentence:
    """`content[start:end]` and its distinct lexemes. complete: it ends as a statement does or defines a term.

    A heading, a cell of a table and a question are not complete: they hold the words of a question, never its
    answer. A row is complete with its table's head, whose words it has.
    """

    start: int
    end: int
    words: frozenset[str]
    complete: bool


class Analysis:
    """A text's sentences in reading order, and its lexemes; made of what `describe_sentences` returned.

    spans: start and end of each sentence; bounds: all starts, and all ends.
    """

    def __init__(self, described: str) -> None:
        self._described = described
        numbers = list(map(int, described[: described.index("\n")].split()))
        self._rows = tuple(place for place, complete in enumerate(numbers[2::3]) if complete == 2)
        self.bounds = tuple(numbers[::3]), tuple(numbers[1::3])
        self.spans = tuple(zip(*self.bounds, strict=True))
        self._complete = numbers[2::3]

    def occurrences(self, word: str) -> tuple[int, ...]:
        """Return the 0-based number of the sentence of each occurrence of the lexeme, in order."""
        described, line = self._described, f"\n{word} "
        start = described.find(line)
        if start < 0:
            return ()
        start += len(line)
        return self._with_rows(list(map(int, described[start : described.index("\n", start)].split())))

    def _with_rows(self, places: list[int]) -> tuple[int, ...]:
        """Put the rows in the place of their head."""
        if places[-1] == len(self.spans):
            places = sorted([*places[:-1], *(row for row in self._rows if row not in places)])
        return tuple(places)

    def places(self, word: str) -> tuple[int, ...]:
        """Return the 0-based numbers of the sentences that hold the lexeme, in order."""
        return tuple(dict.fromkeys(self.occurrences(word)))

    def weight(self, times: int) -> float:
        """Return BM25's part of a lexeme that occurs so often."""
        return term_weight(times, self._length)

    def words_with(self, initial: str) -> list[str]:
        """Return the lexemes that begin with this letter."""
        return re.findall(rf"\n({re.escape(initial)}[^ ]*)", self._described)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for word, _ in self._lines())

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        words: list[list[str]] = [[] for _ in self.spans]
        for word, places in self._lines():
            for place in self._with_rows(list(map(int, places))):
                words[place].append(word)
        described = zip(self.spans, words, self._complete, strict=True)
        return tuple(Sentence(*span, frozenset(own), bool(complete)) for span, own, complete in described)

    @cached_property
    def _length(self) -> int:
        """Count the lexemes: each occurrence follows a space, as do all numbers above but the first."""
        return self._described.count(" ") - max(0, 3 * len(self.spans) - 1)

    def _lines(self) -> Iterator[tuple[str, list[str]]]:
        for line in self._described.split("\n")[1:-1]:
            word, *places = line.split(" ")
            yield word, places
