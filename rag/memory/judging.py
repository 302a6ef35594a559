"""How much of each answer its passages support, found out by workers after it was sent.

Nothing is locked while a model judges: a worker takes some answers for a time that ends by the database's
clock. What ended its worker is taken by itself the next time, and the third time it is left unjudged.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from knowlex.common.components import component
from knowlex.common.database import execute, release_connection, with_retries
from knowlex.common.errors import KnowlexError
from rag.citations.faithfulness import Faithfulness, faithfulness
from rag.memory.contexts import contexts_of
from rag.protocols import ClaimJudge, ModelBacked
from rag.types import Block

BATCH, TURN_S = 32, 3.0
LEASE_S, MAX_ATTEMPTS = 60, 3
MOST_TURNS = 2  # at once: answering comes first
log = logging.getLogger(__name__)

_WAITS = "faithfulness_judged_at IS NULL AND answer <> ''"
_FREE = f"{_WAITS} AND (judging_until IS NULL OR judging_until < clock_timestamp())"
_CLAIM = f"""
    WITH due AS MATERIALIZED (
        SELECT query_id FROM rag_response
        WHERE {_FREE} AND judging_attempts BETWEEN %(least)s AND %(most)s
        ORDER BY created_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
    UPDATE rag_response r SET judging_attempts = judging_attempts + 1,
        judging_until = clock_timestamp() + make_interval(secs => {LEASE_S})
    FROM due WHERE r.query_id = due.query_id RETURNING r.query_id, r.answer
"""  # noqa: S608 - of constants, as all of these
_GIVE_UP = f"""
    UPDATE rag_response SET faithfulness_judged_at = statement_timestamp(), judging_until = NULL
    WHERE {_FREE} AND judging_attempts >= {MAX_ATTEMPTS}
"""  # noqa: S608
_DUE = f"SELECT count(*) FROM (SELECT 1 FROM rag_response WHERE {_FREE} LIMIT %s) due"  # noqa: S608
# Never one whose quotes are gone; one that is being emptied at this moment is left to whoever does that.
_STORE = """
    WITH still AS MATERIALIZED (
        SELECT query_id FROM rag_response
        WHERE query_id = ANY(%(ids)s) AND faithfulness_judged_at IS NULL AND NOT quotes_gone
        FOR UPDATE SKIP LOCKED
    )
    UPDATE rag_response r SET faithfulness_score = judged.score, judging_until = NULL,
        faithfulness_judged_at = statement_timestamp()
    FROM still JOIN unnest(%(ids)s::uuid[], %(scores)s::float[]) AS judged (id, score)
        ON judged.id = still.query_id
    WHERE r.query_id = still.query_id
"""
_GIVE_BACK = f"""
    UPDATE rag_response SET judging_until = NULL, judging_attempts = judging_attempts - 1
    WHERE query_id IN (
        SELECT query_id FROM rag_response WHERE query_id = ANY(%s) AND {_WAITS} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608
Answers = Sequence[tuple[UUID, str]]


def turns_due() -> int:
    """How many turns the answers that wait are worth, no more than should be taken at once."""
    waiting = int(execute(_DUE, [BATCH * MOST_TURNS])[0][0])
    return -(-waiting // BATCH)


def judge_some() -> int:
    """For some seconds, or until none waits; returns how many. Raises DatabaseUnavailable.

    Safe to call at any time and in several workers at once.
    """
    until, count = time.monotonic() + TURN_S, 0
    while time.monotonic() < until and (answers := with_retries(_claimed)):
        count += _judge(answers, until)
    return count


async def judge_one(answer: str, blocks: Sequence[Block]) -> Faithfulness:
    """By the configured judge. Raises what it does."""
    return await faithfulness(answer, blocks, component("CLAIM_JUDGE", ClaimJudge))


def explained(query_id: UUID, answer: str) -> Faithfulness | None:
    """Judged anew, for telling which claims are not supported; nothing is stored. Not for an event loop.

    None: its passages are not there any more. Raises DatabaseUnavailable and what the judge does.
    """
    blocks = with_retries(lambda: contexts_of([query_id])).get(query_id)
    return asyncio.run(judge_one(answer, blocks)) if blocks else None


def _claimed() -> Answers:
    """Some that nobody took yet, the oldest first; else one that ended its worker."""
    fresh = execute(_CLAIM, {"least": 0, "most": 0, "limit": BATCH})
    if fresh:
        return fresh
    execute(_GIVE_UP)
    return execute(_CLAIM, {"least": 1, "most": MAX_ATTEMPTS - 1, "limit": 1})


def _judge(answers: Answers, until: float) -> int:
    """What there is time for, one at least; the others are given back."""
    contexts = with_retries(lambda: contexts_of([id_ for id_, _ in answers]))
    release_connection()
    scores = asyncio.run(_scores(answers, contexts, until))
    judged, left = [id_ for id_, _ in answers[: len(scores)]], [id_ for id_, _ in answers[len(scores) :]]
    with_retries(lambda: execute(_STORE, {"ids": judged, "scores": scores}))
    if left:
        with_retries(lambda: execute(_GIVE_BACK, [left]))
    return len(judged)


async def _scores(
    answers: Answers, contexts: dict[UUID, tuple[Block, ...]], until: float
) -> list[float | None]:
    """Of as many as there was time for. None: its passages are gone, it claims nothing, or it failed."""
    await _warmed()
    known: dict[tuple[str, tuple[Block, ...]], float | None] = {}  # what came from the cache is there twice
    scores: list[float | None] = []
    for id_, answer in answers:
        key = answer, contexts.get(id_, ())
        if key not in known:
            known[key] = await _score(id_, *key)
        scores.append(known[key])
        if time.monotonic() > until:
            break
    return scores


async def _score(id_: UUID, answer: str, blocks: tuple[Block, ...]) -> float | None:
    if not blocks:
        return None
    try:
        return (await judge_one(answer, blocks)).share
    except Exception:  # whatever is wrong with this one, the next one is another
        log.exception("an answer could not be judged", extra={"query_id": str(id_)})
        return None


async def _warmed() -> None:
    """A model is loaded before its time counts; one that cannot be is done without, as in answers."""
    judge = component("CLAIM_JUDGE", ClaimJudge)
    if isinstance(judge, ModelBacked):
        with suppress(OSError, ValueError, KnowlexError):
            await judge.state()
