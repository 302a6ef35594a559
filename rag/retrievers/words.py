"""What the words of a question are worth in the collections read, and which of them find candidates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from embeddings.lexical import idf, position
from embeddings.words import sparse_text

ALL_CHUNKS = ""  # the lexeme under which the chunks themselves are counted
RAREST = 8
MOST_MATCHES = 2000


@dataclass(frozen=True, slots=True)
class Words:
    """idf: of all. known: (word, in how many chunks it stands), the rarest first."""

    idf: dict[str, float]
    known: tuple[tuple[str, int], ...]

    def finding(self, rarest: int = RAREST, most_matches: int = MOST_MATCHES) -> str:
        """The words that find candidates, as a tsquery; "" for none.

        The `rarest` rarest ones, as long as they stand in at most `most_matches` chunks together; the rarest
        of all may stand in more.
        """
        sums = accumulate(chunks for _, chunks in self.known[:rarest])
        found = (
            word
            for n, ((word, _), matches) in enumerate(zip(self.known, sums, strict=False))
            if n == 0 or matches <= most_matches
        )
        return either(found)

    def all_known(self) -> str:
        """Every known word, as a tsquery: for few chunks, of which none may be missed."""
        return either(word for word, _ in self.known)

    def weights(self) -> str:
        """The known words' idf at their hashed places, as a sparsevec."""
        places: dict[int, float] = {}
        for word, _ in self.known:
            place = position(word)
            places[place] = places.get(place, 0.0) + self.idf[word]
        return sparse_text(places)

    @property
    def mass(self) -> float:
        """The idf of all words, those that no chunk holds included; never 0."""
        return sum(self.idf.values()) or 1.0


def weighed(words: Sequence[str], chunks_with: Mapping[str, int]) -> Words:
    """chunks_with: in how many chunks each word stands; under ALL_CHUNKS how many there are."""
    worth = {word: idf(chunks_with.get(word, 0), chunks_with.get(ALL_CHUNKS, 0)) for word in words}
    known = [(word, chunks_with[word]) for word in words if chunks_with.get(word, 0) > 0]
    return Words(worth, tuple(sorted(known, key=lambda held: (held[1], held[0]))))


def either(words: Iterable[str]) -> str:
    return " | ".join(f"'{word}'" for word in words)  # letters and digits: nothing to escape
