"""From how many rows on an index is worth having. Plain Python."""

# Measured: an exact search of 10,000 rows costs PostgreSQL 5 ms of CPU with 384 dimensions, 20 ms with 1536,
# as much as the numbers it reads; one through an index costs 2 to 10 ms (benchmarks/README.md).
_EXACT_NUMBERS = 4_000_000  # numbers in vectors that take about 5 ms
_FEWEST = 1000  # however long the vectors


def exact_below(dimensions: int) -> int:
    """With fewer rows to look at, filters applied, an exact search is as fast as an index, and finds all."""
    return max(_FEWEST, _EXACT_NUMBERS // max(1, dimensions))


def min_rows(dimensions: int) -> int:
    """With fewer rows of its model, an index is not built."""
    return 2 * exact_below(dimensions)
