"""The SQL of retrieval: a whole statement for each mode of search in `sql/`.

A file is a template: `{name}` is an optional part, written here, `%(name)s` a parameter of the search.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from psycopg.sql import SQL, Composable, Literal

from documents.access import condition_on_readers
from documents.library.collection_statistics import LANGUAGES
from documents.types import UNREAD_WARNINGS
from embeddings.lexical.sentences import VERSION
from embeddings.search.dense import MODEL, NARROW, SearchModel, dense_statement
from rag.retrievers.filtering import passing_condition, select_passing_chunks
from rag.retrievers.words import Matching
from rag.types.question import Mode

# A ranking that lacks a chunk counts as if it held it at this rank.
MISSING_RANK = 1000
# Best BM25 score over the idf of the whole question: from where on the list counts at all, and in full.
# Measured, 5th and 50th percentile: English questions 0.68 and 1.08, German ones of English texts 0.08, 0.28.
HELD_NOTHING, HELD_ENOUGH = 0.2, 0.5
SUREST = 5  # of each ranking are candidates in any case
COUNTED = 2 * NARROW  # chunks that pass the filters; of more it is only known that they are more
SCORED = 10_000  # chunks at most that hold the words, where all of these are common: 1 us of CPU each

# In how many chunks each of some words stands.
COUNTS = SQL("""
SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
WHERE collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[])
    AND lexeme = ANY((SELECT %(lexemes)s::text[])::text[])
GROUP BY lexeme
""").as_bytes(None)
# Which of the chunks that a store named are there, and pass the filters.
_PASSING_AMONG = SQL("""
    SELECT coalesce(array_agg(e.chunk_id), '{{}}') AS ids
    FROM unnest(%(near)s::uuid[]) AS near (chunk_id)
    JOIN embeddings_embedding AS e ON e.chunk_id = near.chunk_id AND e.model_id = {model}
    WHERE e.collection_id = ANY(%(collections)s){passing}
""")
_COUNT_PASSING = SQL("(SELECT count(*) FROM ({passing} LIMIT {enough}) AS counted)")
# By a sample; null of few chunks, which are counted as fast. Under row security only what the reader may see
# is in a sample: what it would hold of all is worked out.
_SHARE = SQL("""
    (SELECT CASE WHEN held.chunks > {enough} THEN (
        SELECT count(*) FROM documents_chunk AS c TABLESAMPLE SYSTEM ({percent})
        JOIN documents_document AS d ON d.id = c.document_id
        WHERE d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
    ) * 100 / {percent} / held.chunks END FROM (
        SELECT sum(chunks) AS chunks FROM embeddings_lexemecount
        WHERE collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[]) AND lexeme = ''
    ) AS held)
""")
_PERCENT = SQL("""
    (100.0 * {sample} / greatest(
        (SELECT reltuples FROM pg_class WHERE oid = 'documents_chunk'::regclass), {least}))
""")
SAMPLE, LEAST_ROWS = 1000, 100_000  # of so many chunks; in a table that is not smaller, or not known yet
_IN_PASSING = SQL(" AND {chunk} IN (SELECT id FROM passing)")
# OFFSET 0: the planner would else prefer the index of all words to a few chunks.
_HOLDING_EACH = SQL("""
    SELECT chunk_id, weights FROM (
        SELECT l.chunk_id, l.weights, l.lexemes
        FROM passing JOIN embeddings_lexicalentry AS l ON l.chunk_id = passing.id OFFSET 0
    ) AS looked_at WHERE lexemes @@ %(words)s::tsquery
""")
_HOLDING_INDEXED = SQL("""
    SELECT l.chunk_id, l.weights FROM embeddings_lexicalentry AS l
    WHERE {in_collections} AND l.lexemes @@ %(words)s::tsquery{most}
""")
IN_COLLECTIONS = SQL("l.collection_id = ANY(%(collections)s)")
# No index serves this form: that of the collections would be read as a whole beside that of the words.
CHECKED_LAST = SQL("(l.collection_id = ANY(%(collections)s)) IS TRUE")
_TIMES_ONE_WORD = SQL("""
    (octet_length(folded) - octet_length(replace(folded, needle.word, ''))) / octet_length(needle.word)
""")
_TIMES = SQL("regexp_count(folded, needle.pattern)")
_HOLDING_WORDS = SQL("""
    SELECT l.chunk_id FROM embeddings_lexicalentry AS l
    WHERE l.collection_id = ANY(%(collections)s) AND l.lexemes @@ %(words)s::tsquery{passing}
""")
_HOLDING_ANY = SQL("""
    SELECT l.chunk_id FROM ({passing}) AS p JOIN embeddings_lexicalentry AS l ON l.chunk_id = p.id
""")


@lru_cache(maxsize=256)
def select_scope(conditions: str) -> bytes:
    """Parameters: collections, lexemes, and those of the conditions (see `filtering.Condition`)."""
    counted: Composable = SQL("NULL::bigint")
    share: Composable = SQL("NULL::float8")
    if conditions:
        percent = _PERCENT.format(sample=Literal(SAMPLE), least=Literal(LEAST_ROWS))
        share = _SHARE.format(percent=percent, enough=Literal(COUNTED), conditions=SQL(conditions))
        counted = _COUNT_PASSING.format(passing=select_passing_chunks(conditions), enough=Literal(COUNTED))
    statement = _template("scope").format(
        model=MODEL, passing=counted, share=share, enough=Literal(COUNTED), languages=SQL(LANGUAGES)
    )
    return statement.as_bytes(None)


@lru_cache(maxsize=256)
def search_by_meaning(
    model: SearchModel,
    mode: Mode,
    conditions: str,
    narrow: bool,
    matching: Matching = "indexed",
    known_limit: int | None = None,
    reads_most: bool = False,
) -> bytes:
    """Passages by both rankings (`hybrid`) or by their vectors alone (`dense`), best first.

    reads_most: the collections hold most of all chunks.
    known_limit: the `limit` that comes with it, where one plan serves any question: a connection then plans
    the `hybrid` statement once, else each time, which takes a third of its time among 2,000 chunks.
    Parameters: vector, collections, limit (of each ranking), candidates (of the result), those of the
    conditions, and `near` where the model is searched outside; for `hybrid` words, weights, dense_weight,
    sparse_weight and rrf_k too.
    """
    parts: dict[str, Composable] = {
        "nearest": dense_statement(model, _where(conditions, narrow, "e.chunk_id")),
        "model": Literal(model.id),
        "missing": Literal(MISSING_RANK),
        "nothing": Literal(HELD_NOTHING),
        "everything": Literal(HELD_ENOUGH),
        "known_limit": SQL(" LIMIT {limit}").format(limit=Literal(known_limit)) if known_limit else SQL(""),
        "surest": Literal(SUREST),
    }
    if mode == "dense":
        return _search("dense", parts, conditions, narrow, model.id)
    return _search("hybrid", parts, conditions, narrow, model.id, matching, reads_most)


@lru_cache(maxsize=256)
def search_by_words(conditions: str, narrow: bool, matching: Matching, reads_most: bool = False) -> bytes:
    """Passages by BM25 alone. Parameters: words, weights, collections, limit, candidates, the conditions'.

    reads_most: the collections hold most of all chunks.
    """
    return _search("sparse", {}, conditions, narrow, matching=matching, reads_most=reads_most)


@lru_cache(maxsize=256)
def search_by_literal(conditions: str, narrow: bool, with_words: bool, one_word: bool) -> bytes:
    """Passages that hold a string. Parameters: longest, pattern, collections, candidates, the conditions'.

    one_word: the string is one. with_words: `words` finds those that may hold it; without, all are looked at.
    """
    if with_words:
        possible = _HOLDING_WORDS.format(passing=_where(conditions, narrow, "l.chunk_id"))
    else:
        possible = _HOLDING_ANY.format(passing=select_passing_chunks(conditions))
    times = _TIMES_ONE_WORD if one_word else _TIMES
    return _search("exact", {"possible": possible, "times": times}, conditions, narrow)


@lru_cache(maxsize=256)
def rate_chunks(model: SearchModel) -> bytes:
    """Select these chunks as passages. Parameters: ids, scores, vector, words and weights of the question."""
    return _search("judged", {"model": Literal(model.id)}, model_id=model.id)


@lru_cache(maxsize=256)
def select_neighbours(model_id: int | None, conditions: str) -> bytes:
    """Passages by their places. Parameters: documents, indexes, collections, those of the conditions, and
    vector where there is a model; then only what has a vector of it is found, as in any search.
    """
    return _search("neighbours", _distances(model_id, conditions), model_id=model_id)


@lru_cache(maxsize=256)
def select_sample(model_id: int | None, conditions: str) -> bytes:
    """Passages spread over a document. Parameters: document, count, and else those of `neighbours`."""
    return _search("sample", _distances(model_id, conditions), model_id=model_id)


@lru_cache(maxsize=256)
def select_passing(model_id: int, conditions: str) -> bytes:
    """Select one row: ids. Parameters: near, collections, those of the conditions."""
    passing = passing_condition(conditions, "e.chunk_id")
    return _PASSING_AMONG.format(model=Literal(model_id), passing=passing).as_bytes(None)


def _distances(model_id: int | None, conditions: str) -> dict[str, Composable]:
    """Return the parts of a search by place that compare chunks with the question, where it has a vector."""
    distance, join = SQL("NULL::float8").format(), SQL("").format()
    if model_id is not None:
        distance = SQL("e.vector <=> %(vector)s::vector").format()
        join = SQL("JOIN embeddings_embedding AS e ON e.chunk_id = c.id AND e.model_id = {model}").format(
            model=Literal(model_id)
        )
    return {"distance": distance, "join_vector": join, "conditions": SQL(conditions)}


def _where(conditions: str, narrow: bool, chunk: str) -> Composable:
    if conditions and narrow:
        return _IN_PASSING.format(chunk=SQL(chunk))
    return passing_condition(conditions, chunk)


def _search(
    name: str,
    parts: Mapping[str, Composable],
    conditions: str = "",
    narrow: bool = False,
    model_id: int | None = None,
    matching: Matching = "indexed",
    reads_most: bool = False,
) -> bytes:
    """Fill a template in. model_id: of the question's vector, where there is one."""
    passing_list: Composable = SQL("")
    if matching == "each" or (conditions and narrow):
        query = select_passing_chunks(conditions)
        passing_list = SQL("passing AS MATERIALIZED ({query}), ").format(query=query)
    holding: Composable = _HOLDING_EACH
    passing_words: Composable = SQL("")
    if matching != "each":
        most = SQL(" LIMIT {scored}").format(scored=Literal(SCORED)) if matching == "capped" else SQL("")
        in_collections = CHECKED_LAST if reads_most else IN_COLLECTIONS
        holding = _HOLDING_INDEXED.format(in_collections=in_collections, most=most)
        if conditions:
            where = _where(conditions, narrow, "l.chunk_id")
            passing_words = SQL("WHERE true{passing}").format(passing=where)
    statement = _template(name).format(
        passing_list=passing_list,
        holding=holding,
        passing_words=passing_words,
        passages=_passages(model_id),
        **parts,
    )
    return statement.as_bytes(None)


def _passages(model_id: int | None) -> Composable:
    columns, join = SQL("NULL AS bounds, NULL AS similarities"), SQL("").format()
    if model_id is not None:
        columns = SQL("sentences.bounds::text AS bounds, sentences.similarities")
        join = _template("sentences").format(model=Literal(model_id))
    unread = Literal(sorted(UNREAD_WARNINGS))
    readable = SQL(condition_on_readers("d.readers"))
    return _template("passages").format(
        unread=unread, sentences=columns, join_sentences=join, readable=readable, version=Literal(VERSION)
    )


@cache
def _template(name: str) -> SQL:
    """Read a file of `sql/` without its comments."""
    text = (Path(__file__).parent / "sql" / f"{name}.sql").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return SQL("\n".join(lines))
