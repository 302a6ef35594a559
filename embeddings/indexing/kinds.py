"""The kinds of vector index, their sizes, and the SQL that only one of them serves."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from uuid import UUID

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

PREFIX = "embeddings_vectors_"
MAX_DIMENSIONS = {"vector": 2000, "halfvec": 4000}  # what pgvector can index
MAX_LISTS, MAX_EF = 32_768, 1000
USUAL_EFFORT = {"ivfflat": 32, "hnsw": 120}  # about .96 at 100,000 rows
MORE = {"vector": 0, "halfvec": 20}  # candidates: by rounded vectors, neighbours change places

_CREATE = SQL("""
    CREATE INDEX CONCURRENTLY {name} ON embeddings_embedding USING {kind}
    ((vector::{type}) {operators}){options} WHERE model_id = {model} AND chunk_id <> {mark}
""")
# The bare expression, the literal id and the mark: only then does the planner see that the index serves, and
# no other can. With rows left over it has failed its purpose, and all are looked at instead.
_INDEXED = SQL("""
    WITH near AS MATERIALIZED (
        SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance FROM embeddings_embedding e
        WHERE e.model_id = {model} AND e.chunk_id <> {mark}{where}
        ORDER BY e.vector::{type} <=> %(vector)s::{type} LIMIT %(limit)s + {more}
    ), found AS (SELECT count(*) >= %(limit)s AS enough FROM near)
    (SELECT chunk_id, distance FROM near WHERE (SELECT enough FROM found)
     ORDER BY distance, chunk_id LIMIT %(limit)s)
    UNION ALL SELECT chunk_id, distance FROM ({exact}) everything WHERE NOT (SELECT enough FROM found)
""")
_EXACT = SQL("""
    SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance FROM embeddings_embedding e
    WHERE e.model_id = {model}{where} ORDER BY distance, e.chunk_id LIMIT %(limit)s
""")
_SETUP = {
    "ivfflat": (
        "SET LOCAL ivfflat.probes = {effort}",
        "SET LOCAL ivfflat.iterative_scan = relaxed_order",  # goes on until there are enough rows
    ),
    "hnsw": (
        "SET LOCAL hnsw.ef_search = {effort}",
        "SET LOCAL hnsw.iterative_scan = relaxed_order",
        "SET LOCAL hnsw.max_scan_tuples = 2147483647",
        "SET LOCAL hnsw.scan_mem_multiplier = 4",
    ),
}


@dataclass(frozen=True, slots=True)
class Index:
    """An index as it is to be built, or is. number: of the model's builds. lists: of IVFFlat, else 0."""

    model_id: int
    dimensions: int
    number: int
    kind: str
    storage: str
    lists: int = 0

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.model_id}_{self.number}"

    @property
    def _parts(self) -> dict[str, Composable]:
        # No chunk has the mark for its id: a condition that is always true tells one index from the next.
        return {
            "model": Literal(self.model_id),
            "mark": Literal(UUID(int=self.number)),
            "type": SQL(f"{self.storage}({int(self.dimensions)})"),
        }

    def creation(self) -> Composed:
        return _CREATE.format(
            name=Identifier(self.name),
            kind=Identifier(self.kind),
            operators=Identifier(f"{self.storage}_cosine_ops"),
            options=SQL(f" WITH (lists = {int(self.lists)})" if self.kind == "ivfflat" else ""),
            **self._parts,
        )

    def search(self, where: Composable) -> Composed:
        """Return a SELECT of (chunk_id, distance), closest first, for the parameters vector and limit."""
        everything = exact_search(self.model_id, where)
        return _INDEXED.format(where=where, more=Literal(MORE[self.storage]), exact=everything, **self._parts)

    def setup(self, effort: int) -> tuple[SQL, ...]:
        """Return what is to be set for a search by this index. effort: probes, or ef_search.

        To the planner a sort is cheap; it would take the distances of all rows.
        """
        settings = (text.format(effort=int(effort)) for text in _SETUP[self.kind])
        return (SQL("SET LOCAL enable_sort = off"), *map(SQL, settings))

    def effort_among(self, effort: int, share: float) -> int:
        """Return what finds as much among a share of the rows, whose neighbours lie farther from the
        question.

        Measured with IVFFlat at 30,000 rows for a recall of .95: 23 probes for all, 31 for 30 % of the rows,
        42 for 10 %, 57 for 3 %.
        """
        raised = math.ceil(effort / math.pow(min(1.0, max(0.001, share)), 0.3))
        return min(raised, self.lists if self.kind == "ivfflat" else MAX_EF)

    def efforts(self) -> list[int]:
        """Return all that are tried, least first. More than half of the lists is no help against looking
        at all.
        """
        highest = max(1, self.lists // 2) if self.kind == "ivfflat" else MAX_EF
        lowest = 1 if self.kind == "ivfflat" else 40
        steps = math.log2(highest / lowest) * 4
        tried = {min(highest, round(lowest * 2 ** (n / 4))) for n in range(math.ceil(steps) + 1)}
        return sorted(tried)


def exact_search(model_id: int, where: Composable) -> Composed:
    """Return a SELECT of (chunk_id, distance), closest first, for the parameters vector and limit."""
    return _EXACT.format(model=Literal(model_id), where=where)


SAMPLES_A_LIST, FEWEST_SAMPLES = 50, 10_000


def ivfflat_build_bytes(lists: int, dimensions: int, storage: str) -> int:
    """Return the memory that pgvector asks for to find the centres of so many lists, or refuses to build.

    ElkanKmeans in pgvector 0.8's ivfkmeans.c: sampled vectors, three sets of centres, and the distances of
    all samples and of all centres to all centres; at 384 dimensions some 204 lists^2 + 82,000 lists.
    """
    samples = max(FEWEST_SAMPLES, SAMPLES_A_LIST * lists)
    vector = -(-(8 + dimensions * (2 if storage == "halfvec" else 4)) // 8) * 8
    of_vectors = (samples + 2 * lists) * vector + 4 * lists * dimensions
    return of_vectors + 4 * (samples * lists + lists * lists + 2 * samples + 3 * lists) + 1024


def lists_for(rows: int, dimensions: int, storage: str, memory: int) -> int:
    """Return twice the square root of the rows, or as many lists as can be built in so many bytes of memory.

    A search by p probes compares the question with all centres and p / lists of the rows. Measured at a
    million rows for a recall of .956: 45 probes of 2,000 lists where 45 of 1,000 read twice the rows.
    """
    lists = max(1, min(MAX_LISTS, round(2 * math.sqrt(rows))))
    if ivfflat_build_bytes(lists, dimensions, storage) <= memory:
        return lists
    allowed = range(1, lists)
    return max(1, bisect_right(allowed, memory, key=lambda n: ivfflat_build_bytes(n, dimensions, storage)))


def explain_unsupported(dimensions: int, kind: str, storage: str) -> str:
    """Explain why there can be no such index; "" if there can."""
    if kind == "none":
        return "KNOWLEX_VECTOR_INDEX is none."
    if not dimensions:
        return "Nothing was embedded yet."
    if dimensions <= MAX_DIMENSIONS[storage]:
        return ""
    limit = f"{dimensions} dimensions are more than pgvector can index as {storage}."
    remedy = " KNOWLEX_VECTOR_INDEX_STORAGE=halfvec holds up to 4000."
    return limit + (remedy if dimensions <= MAX_DIMENSIONS["halfvec"] else "")
