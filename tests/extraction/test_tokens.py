"""The embedder's own tokens: exact offsets, whatever the text's size."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.text.tokens import BLOCK_CHARS, WordPieceCounter, load_tokenizer
from documents.text.word_lists import VOCABULARY, read_vocabulary

COUNTER = WordPieceCounter()
TOKENIZER = load_tokenizer()


def test_offsets_name_the_words_of_the_text() -> None:
    text = "Héllo, interstellar 中文!"
    counter = WordPieceCounter()
    assert [text[a:b] for a, b in zip(counter.starts(text), counter.ends(text, 99), strict=True)] == [
        "Héllo", ",", "inter", "stellar", "中", "文", "!",
    ]  # fmt: skip


def test_a_text_of_many_blocks_has_the_tokens_of_one_pass() -> None:
    text = "Some words, naïve façades and 3.5 numbers. " * (3 * BLOCK_CHARS // 40)
    whole = load_tokenizer().encode(text, add_special_tokens=False).offsets
    assert list(WordPieceCounter().starts(text)) == [start for start, _ in whole]


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        st.one_of(
            st.sampled_from("ab Z.,\n\t中é\u0301ß[#\u200b\x1c\u00a0。ﬁ가าİ"),
            st.characters(exclude_categories=["Cs"]),
        ),
        max_size=200,
    )
)
def test_any_text_has_the_tokens_of_one_pass(text: str) -> None:
    whole = TOKENIZER.encode(text, add_special_tokens=False)
    assert list(COUNTER.starts(text)) == [start for start, _ in whole.offsets]
    assert COUNTER.ids(text, 1000) == whole.ids
    assert COUNTER.ids(text, 7) == whole.ids[:7]
    assert COUNTER.ends(text, 1000) == [end for _, end in whole.offsets]
    assert COUNTER.ends(text, 7) == [end for _, end in whole.offsets[:7]]


def test_special_tokens_are_added_only_for_the_model() -> None:
    assert load_tokenizer().encode("hi").ids == [101, 7632, 102]


def test_an_altered_vocabulary_is_refused(tmp_path: Path) -> None:
    altered = tmp_path / "vocab.txt"
    altered.write_bytes(VOCABULARY.read_bytes() + b"extra\n")
    with pytest.raises(ValueError, match="not the file that was shipped"):
        read_vocabulary(altered)
