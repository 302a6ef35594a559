"""The embedding model's own WordPiece tokens, offline."""

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from documents.text.word_lists import read_vocabulary

Offsets = tuple[tuple[int, int], ...]
Ids = tuple[int, ...]

# Of a run without white space: the tokenizer's own result costs 200 bytes a token, and other threads wait.
BLOCK_CHARS = 16_384
_PUNCTUATION, _IDEOGRAPHS = r"!-/:-@\[-`{-~", "\u3400-\u4dbf\u4e00-\u9fff"
# No token reaches over a space, a line's end, one of ASCII's signs or a Chinese character.
_RUN = re.compile(rf"([{_PUNCTUATION}]+|[{_IDEOGRAPHS}]+)|[^ \n{_PUNCTUATION}{_IDEOGRAPHS}]+")
_LONGEST_WORD = 100  # letters; a longer one is unknown to the model, one token
_LONGEST_KEPT, _WORDS_KEPT = 40, 30_000  # some 9 MB


def load_tokenizer() -> Tokenizer:
    """A fresh tokenizer of bert-base-uncased, without padding or truncation; the caller may change it.

    `encode` adds [CLS] and [SEP] unless told not to. Raises ValueError if the vocabulary file was altered.
    """
    vocabulary = {token: number for number, token in enumerate(read_vocabulary())}
    unknown = "[UNK]"
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=_LONGEST_WORD))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    return tokenizer


class TokenSpans(Sequence[tuple[int, int]]):
    """(start, end) of every token in eight bytes each; five million tuples would take 600 MB."""

    def __init__(self) -> None:
        self.starts, self.ends = array("I"), array("I")

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        if isinstance(index, slice):
            return list(zip(self.starts[index], self.ends[index], strict=True))
        return self.starts[index], self.ends[index]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts, self.ends, strict=True)


class WordPieceCounter:
    """TokenCounter for all-MiniLM-L6-v2 and every other model on bert-base-uncased.

    The tokens of a word do not depend on its neighbours, so each is asked for once: four times as fast as
    the tokenizer's own pass, whose result is an object for each token.
    """

    def __init__(self) -> None:
        self._tokenizer = load_tokenizer()
        self._known: dict[str, tuple[Offsets, Ids]] = {}
        self._unknown = self._tokenizer.token_to_id("[UNK]") or 0
        self.special: tuple[int, int] = self._id("[CLS]"), self._id("[SEP]")  # stand around every text

    def spans(self, text: str) -> TokenSpans:
        """Offsets of every token in order; a run of over 100 letters is one token, as for the model."""
        found, known = TokenSpans(), self._known
        add_start, add_end = found.starts.append, found.ends.append
        for run in _RUN.finditer(text):
            start, end = run.span()
            if run.lastindex:  # each character is a token
                found.starts.extend(range(start, end))
                found.ends.extend(range(start + 1, end + 1))
                continue
            word = run.group()
            for first, last in (known.get(word) or self._tokens(word))[0]:
                add_start(start + first)
                add_end(start + last)
        return found

    def ids(self, text: str, most: int) -> list[int]:
        """The first `most` tokens as the model knows them, without special ones."""
        found: list[int] = []
        known = self._known
        for run in _RUN.finditer(text):
            word = run.group()
            if run.lastindex:
                found.extend(map(self._id, word))
            else:
                found.extend((known.get(word) or self._tokens(word))[1])
            if len(found) >= most:
                break
        return found[:most]

    def ends(self, text: str, most: int) -> list[int]:
        """Where each of the first `most` tokens ends in the text, in the order of `ids`."""
        found: list[int] = []
        known = self._known
        for run in _RUN.finditer(text):
            start, end = run.span()
            if run.lastindex:
                found.extend(range(start + 1, end + 1))
            else:
                offsets = (known.get(run.group()) or self._tokens(run.group()))[0]
                found.extend([start + last for _, last in offsets])
            if len(found) >= most:
                break
        return found[:most]

    def _id(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        return self._unknown if found is None else found

    def _tokens(self, word: str) -> tuple[Offsets, Ids]:
        if len(word) > _LONGEST_WORD and word.isascii() and word.isalnum():
            return ((0, len(word)),), (self._unknown,)
        if len(word) > _LONGEST_KEPT:
            return self._long(word)
        plain = self._tokenizer.token_to_id(word.lower()) if word.isascii() else None
        if plain is not None:
            tokens: tuple[Offsets, Ids] = ((0, len(word)),), (plain,)
        else:
            encoding = self._tokenizer.encode(word, add_special_tokens=False)
            tokens = tuple(encoding.offsets), tuple(encoding.ids)
        if len(self._known) >= _WORDS_KEPT:
            self._known.clear()
        self._known[word] = tokens
        return tokens

    def _long(self, run: str) -> tuple[Offsets, Ids]:
        offsets: list[tuple[int, int]] = []
        ids: list[int] = []
        for start in range(0, len(run), BLOCK_CHARS):
            encoding = self._tokenizer.encode(run[start : start + BLOCK_CHARS], add_special_tokens=False)
            offsets += [(start + first, start + last) for first, last in encoding.offsets]
            ids += encoding.ids
        return tuple(offsets), tuple(ids)
