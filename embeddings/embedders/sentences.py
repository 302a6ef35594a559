"""A text's sentences out of its own forward pass: what every model with token vectors shares."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embeddings.protocols import Span


def sentence_vectors(
    token_vectors: NDArray[np.float32], token_ends: Sequence[int], spans: Sequence[Span]
) -> NDArray[np.float32]:
    """(spans, dimensions): for each span the mean of its tokens' vectors, of length 1.

    token_vectors: of the text's own tokens in order, without special ones and prefixes. token_ends: where
    each ends in the text; a token is of the span in which it ends, since some tokenizers count the space
    before a word as part of it. A span without a token, or beyond what the model has read, has zeros.
    """
    found = np.zeros((len(spans), token_vectors.shape[1]), dtype=np.float32)
    bounds = np.searchsorted(np.asarray(token_ends), np.array(spans).reshape(-1, 2), side="right")
    for n, (first, last) in enumerate(bounds.tolist()):
        if first < last:
            mean = token_vectors[first:last].mean(axis=0)
            found[n] = mean / (np.linalg.norm(mean) or 1.0)
    return found
