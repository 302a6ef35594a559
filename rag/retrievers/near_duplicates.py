"""Room for others where many passages say the same, such as a file that lies in several collections."""

from collections.abc import Awaitable, Callable, Sequence

from knowlex.db.pool import Row

WIDER = (4, 16)  # times the usual depth of a search

Search = Callable[[int], Awaitable[Sequence[Row]]]


async def spread(search: Search, *, candidates: int, wanted: int) -> Sequence[Row]:
    """What `search` finds, best first. Where it is cut off before `wanted` different texts, it is made again,
    so many times as deep, and only the first of each text is kept.

    candidates: how many rows there are at most at the usual depth.
    """
    rows = await search(1)
    most = candidates
    for times in WIDER:
        if len(rows) < most or _texts(rows) >= wanted:
            break
        rows, most = await search(times), candidates * times
    return rows if most == candidates else _first_of_each(rows)[:candidates]


def _texts(rows: Sequence[Row]) -> int:
    return len({row["content"] for row in rows})


def _first_of_each(rows: Sequence[Row]) -> list[Row]:
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["content"], row)
    return list(first.values())
