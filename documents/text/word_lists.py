"""The vocabulary of bert-base-uncased: see vocab/README.md for source and licence."""

import hashlib
from pathlib import Path

VOCABULARY = Path(__file__).parent / "vocab" / "bert-base-uncased.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def read_vocabulary(path: Path | None = None) -> list[str]:
    """30,522 tokens in the order of their ids. Raises ValueError if the file was altered."""
    raw = (path or VOCABULARY).read_bytes()
    if hashlib.sha256(raw).hexdigest() != VOCABULARY_SHA256:
        raise ValueError(f"The vocabulary {VOCABULARY.name} is not the file that was shipped.")
    return raw.decode().removesuffix("\n").split("\n")
