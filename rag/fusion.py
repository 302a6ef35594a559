"""Several rankings -> one. Plain Python."""

from collections.abc import Sequence

RRF_K = 60


def reciprocal_rank(ranks: Sequence[int | None], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank), rank from 1; a ranking that lacks the item (None) gives nothing.

    Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion", SIGIR 2009; k = 60 is theirs.
    """
    return sum(1.0 / (k + rank) for rank in ranks if rank is not None)
