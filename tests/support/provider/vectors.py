"""Embeddings as a pure function of the text, so that any stored vector can be recomputed and compared."""

import base64
import re
import zlib

import numpy as np
from numpy.typing import NDArray

DEFAULT_DIMENSIONS = 1536
OTHER_MODEL, OTHER_DIMENSIONS = "text-embedding-3-large", 3072  # its vectors look in other directions


def vector_of(text: str, dimensions: int = DEFAULT_DIMENSIONS, *, model: str = "") -> NDArray[np.float32]:
    """Hashed bag of words, L2 normalised. Never zero: every text has one small constant feature."""
    salt = zlib.crc32(model.encode()) if model == OTHER_MODEL else 0
    vector = np.zeros(dimensions, dtype=np.float32)
    vector[0] = 0.01
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode(), salt) % dimensions] += 1.0
    normalised: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return normalised


def encode(vector: NDArray[np.float32], encoding: str) -> list[float] | str:
    """As OpenAI sends it: a list of numbers, or base64 of little-endian float32."""
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(x) for x in vector]
