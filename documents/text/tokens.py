"""The WordPiece tokens of the embedding model, counted offline."""

import re
from array import array
from collections.abc import Sequence
from functools import cache

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
_LONGEST_CACHED, _WORDS_CACHED = 40, 30_000  # some 9 MB


def load_tokenizer() -> Tokenizer:
    """Load a tokenizer of bert-base-uncased without padding or truncation; the caller may change it.

    `encode` adds [CLS] and [SEP] unless told not to. Raises ValueError if the vocabulary file was altered.
    """
    vocabulary = {token: number for number, token in enumerate(read_vocabulary())}
    unknown = "[UNK]"
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=_LONGEST_WORD))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    return tokenizer


@cache
def _load_once() -> tuple[Tokenizer, dict[str, tuple[Offsets, Ids]]]:
    """Return the process's tokenizer, and the words that it has met."""
    return load_tokenizer(), {}


class WordPieceCounter:
    """TokenCounter for all-MiniLM-L6-v2 and every other model on bert-base-uncased.

    The tokens of a word do not depend on its neighbours, so each is tokenized once: four times as fast as
    the tokenizer's own pass, whose result is an object for each token. All counters of a process share them.
    """

    def __init__(self) -> None:
        self._tokenizer, self._cache = _load_once()
        self._unknown = self._tokenizer.token_to_id("[UNK]") or 0
        self.special: tuple[int, int] = self._id("[CLS]"), self._id("[SEP]")  # stand around every text

    def starts(self, text: str) -> Sequence[int]:
        """Return where every token begins; a run of over 100 letters is one token, as for the model.

        Four bytes each: a text of 20 MB has five million tokens.
        """
        result, cache = array("I"), self._cache
        for run in _RUN.finditer(text):
            start, end = run.span()
            if run.lastindex:  # each character is a token
                result.extend(range(start, end))
                continue
            word = run.group()
            for first, _ in (cache.get(word) or self._tokenize(word))[0]:
                result.append(start + first)
        return result

    def ids(self, text: str, most: int) -> list[int]:
        """Return the ids of the first `most` tokens, without special ones."""
        return self.encode(text, most)[0]

    def ends(self, text: str, most: int) -> list[int]:
        """Return where each of the first `most` tokens ends in the text, in the order of `ids`."""
        return self.encode(text, most)[1]

    def encode(self, text: str, most: int) -> tuple[list[int], list[int]]:
        """Return `ids` and `ends`, in one pass."""
        ids: list[int] = []
        ends: list[int] = []
        for run in _RUN.finditer(text):
            word, (start, end) = run.group(), run.span()
            if run.lastindex:
                ids.extend(map(self._id, word))
                ends.extend(range(start + 1, end + 1))
            else:
                offsets, of_word = self._cache.get(word) or self._tokenize(word)
                ids.extend(of_word)
                ends.extend([start + last for _, last in offsets])
            if len(ids) >= most:
                break
        return ids[:most], ends[:most]

    def _id(self, token: str) -> int:
        result = self._tokenizer.token_to_id(token)
        return self._unknown if result is None else result

    def _tokenize(self, word: str) -> tuple[Offsets, Ids]:
        if len(word) > _LONGEST_WORD and word.isascii() and word.isalnum():
            return ((0, len(word)),), (self._unknown,)
        if len(word) > _LONGEST_CACHED:
            return self._tokenize_long(word)
        plain = self._tokenizer.token_to_id(word.lower()) if word.isascii() else None
        if plain is not None:
            tokens: tuple[Offsets, Ids] = ((0, len(word)),), (plain,)
        else:
            encoding = self._tokenizer.encode(word, add_special_tokens=False)
            tokens = tuple(encoding.offsets), tuple(encoding.ids)
        if len(self._cache) >= _WORDS_CACHED:
            self._cache.clear()
        self._cache[word] = tokens
        return tokens

    def _tokenize_long(self, run: str) -> tuple[Offsets, Ids]:
        offsets: list[tuple[int, int]] = []
        ids: list[int] = []
        for start in range(0, len(run), BLOCK_CHARS):
            encoding = self._tokenizer.encode(run[start : start + BLOCK_CHARS], add_special_tokens=False)
            offsets += [(start + first, start + last) for first, last in encoding.offsets]
            ids += encoding.ids
        return tuple(offsets), tuple(ids)
