"""What a provider may call vectors, and what is taken for one."""

import numpy as np
import pytest

from embeddings.vectors.checks import UnusableVectors, check_vectors


def item(index, embedding):
    return {"object": "embedding", "index": index, "embedding": embedding}


def test_vectors_come_back_in_the_order_of_their_index():
    vectors = check_vectors([item(1, [0.0, 1.0]), item(0, [1.0, 0.0])], 2, 2)
    assert [list(vector) for vector in vectors] == [[1.0, 0.0], [0.0, 1.0]]
    assert all(vector.dtype == np.float32 for vector in vectors)


def test_without_a_known_size_the_first_vector_decides():
    assert len(check_vectors([item(0, [1, 2, 3])], 1, None)[0]) == 3
    with pytest.raises(UnusableVectors, match="2 dimensions instead of 3"):
        check_vectors([item(0, [1, 2, 3]), item(1, [1, 2])], 2, None)


@pytest.mark.parametrize(
    "items",
    [
        None,
        {},
        [],
        [item(0, [1.0, 2.0])],
        [item(0, [1.0, 2.0])] * 3,
        [item(0, [1.0, 2.0])] * 2,
        [item(0, [1.0, 2.0]), item(2, [1.0, 2.0])],
        [item(0, [1.0, 2.0]), item(-1, [1.0, 2.0])],
        [item(0, [1.0, 2.0]), item(True, [1.0, 2.0])],
        [item(0, [1.0, 2.0]), item("1", [1.0, 2.0])],
        [item(0, [1.0, 2.0]), {"embedding": [1.0, 2.0]}],
        [item(0, [1.0, 2.0]), item(1, None)],
        [item(0, [1.0, 2.0]), item(1, [])],
        [item(0, [1.0, 2.0]), item(1, [1.0])],
        [item(0, [1.0, 2.0]), item(1, [1.0, 2.0, 3.0])],
        [item(0, [1.0, 2.0]), item(1, [1.0, "2"])],
        [item(0, [1.0, 2.0]), item(1, [1.0, True])],
        [item(0, [1.0, 2.0]), item(1, [1.0, None])],
        [item(0, [1.0, 2.0]), item(1, [1.0, float("nan")])],
        [item(0, [1.0, 2.0]), item(1, [float("inf"), 1.0])],
        [item(0, [1.0, 2.0]), item(1, [1e300, 1.0])],
        [item(0, [1.0, 2.0]), item(1, [10**400, 1.0])],
        [item(0, [1.0, 2.0]), item(1, [0.0, 0.0])],
        [item(0, [1.0, 2.0]), item(1, [1e-60, 0.0])],
        [item(0, [1.0, 2.0]), 5],
    ],
)
def test_one_unusable_vector_refuses_all(items):
    with pytest.raises(UnusableVectors):
        check_vectors(items, 2, 2)
