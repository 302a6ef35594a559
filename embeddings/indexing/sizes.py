"""From how many rows on an index is worth having. Plain Python."""

# An exact search of 10,000 rows costs PostgreSQL 5 ms of CPU with 384 dimensions, 16 ms with 1536 (measured;
# benchmarks/README.md), one through an index 2 to 10 ms whatever the number: work goes by what is read.
_EXACT_NUMBERS = 4_000_000  # numbers in vectors that take about 5 ms
_FEWEST = 1000  # however long the vectors


def exact_below(dimensions: int) -> int:
    """With fewer rows to look at, filters applied, an exact search is as fast as an index, and finds all."""
    return max(_FEWEST, _EXACT_NUMBERS // max(1, dimensions))


def min_rows(dimensions: int) -> int:
    """With fewer rows of its model, an index is not built."""
    return 2 * exact_below(dimensions)
