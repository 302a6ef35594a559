"""The embedding model's own WordPiece tokens, offline."""

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from documents.vocabulary import read_vocabulary

# A piece at a time: the tokenizer's own result costs some 200 bytes a token, and other threads wait for it.
BLOCK_CHARS = 16_384


def load_tokenizer() -> Tokenizer:
    """A fresh tokenizer of bert-base-uncased, without padding or truncation; the caller may change it.

    `encode` adds [CLS] and [SEP] unless told not to. Raises ValueError if the vocabulary file was altered.
    """
    vocabulary = {token: number for number, token in enumerate(read_vocabulary())}
    unknown = "[UNK]"
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    return tokenizer


class TokenSpans(Sequence[tuple[int, int]]):
    """(start, end) of every token in eight bytes each; five million tuples would take 600 MB."""

    def __init__(self) -> None:
        self.starts, self.ends = array("I"), array("I")

    def extend(self, offsets: Sequence[tuple[int, int]], shift: int) -> None:
        self.starts.extend([start + shift for start, _ in offsets])
        self.ends.extend([end + shift for _, end in offsets])

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
    """TokenCounter for all-MiniLM-L6-v2 and every other model on bert-base-uncased."""

    def __init__(self) -> None:
        self._tokenizer = load_tokenizer()

    def spans(self, text: str) -> TokenSpans:
        """Offsets of every token in order; a run of over 100 letters is one token, as for the model."""
        found = TokenSpans()
        for start, end in _blocks(text):
            encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            found.extend(encoding.offsets, start)
        return found


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Pieces that end at white space, where no token of this tokenizer can reach across."""
    start = 0
    while start < len(text):
        end = min(start + BLOCK_CHARS, len(text))
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = space + 1 if space > start else end
        yield start, end
        start = end
