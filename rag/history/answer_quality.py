"""How good each answer is, found out by workers after it was sent: is it faithful, does it answer?

    faithfulness_score   `rag.types.claims`; null of an extractive answer, which quotes its passages
                         word for word and so is faithful by construction
    answer_relevance     `rag.relevance.answers`; where a model read the answer, the mean of that and of what
                         the model says
    verdict, judged_by   of a citation: what the model says of a claim that the check could not verify

Nothing is locked while a model works: a worker takes some answers for a time that ends by the database's
clock. What ended its worker is taken by itself the next time, and after `MAX_ATTEMPTS` it is left as it is.
Where a model is away, the figures are stored without it, and it is asked again after 1, 4, 16, 64 and 256
minutes.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from knowlex.base.errors import EmbedderError, EmbedderUnavailable, SynthesisFailed
from knowlex.db.leases import LeaseQueue
from knowlex.db.threads import execute, release_connection, with_retries
from knowlex.runtime.components import component
from rag.history.claims import CitedClaim, compute_answer_relevances, fetch_citations, group_claims
from rag.protocols import AnswerReader
from rag.types.answer import EXTRACTIVE
from rag.types.claims import Opinion, Verdict, faithfulness

BATCH, TURN_S = 32, 3.0
READ_BATCH = 4  # answers, where a model reads them
MAX_ATTEMPTS = 6
MAX_TURNS = 2  # at once: answering comes first
log = logging.getLogger(__name__)

_UNREAD = "w.faithfulness_judged_at IS NULL AND w.answer <> ''"
# The clock alone tells who has an answer: what two workers found is the same, and either may store it.
ANSWERS = LeaseQueue(
    table="rag_response",
    key=("query_id",),
    waiting=_UNREAD,
    lease_s=60,
    max_attempts=MAX_ATTEMPTS,
    given_up="faithfulness_judged_at = statement_timestamp()",
    lease_column="",
    until_column="judging_until",
    attempts_column="judging_attempts",
)
_CLAIM = ANSWERS.claim_sql(
    f"""
        SELECT w.query_id FROM rag_response w
        WHERE {ANSWERS.unheld} AND w.judging_attempts BETWEEN %(least)s AND %(most)s
        ORDER BY w.created_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    """,  # noqa: S608 - made of constants
    returning="""
        w.query_id, (SELECT coalesce(nullif(q.rewritten_query, ''), q.original_query)
                     FROM rag_query q WHERE q.id = w.query_id),
        w.answer, w.model, w.verification, w.judging_attempts
    """,
)
# Never one whose quotes are gone; one that is being emptied at this moment is left to whoever does that.
_STORE = """
    WITH still AS MATERIALIZED (
        SELECT query_id FROM rag_response
        WHERE query_id = ANY(%(ids)s) AND faithfulness_judged_at IS NULL AND NOT quotes_gone
        FOR UPDATE SKIP LOCKED
    ), read AS (
        UPDATE rag_citation c SET verdict = v.verdict, judged_by = %(model)s
        FROM unnest(%(read)s::uuid[], %(positions)s::int[], %(verdicts)s::text[]) AS v (id, position, verdict)
        JOIN still ON still.query_id = v.id
        WHERE c.response_id = v.id AND c.position = v.position
    )
    UPDATE rag_response r SET faithfulness_score = f.score, answer_relevance = f.relevance,
        faithfulness_judged_at = CASE WHEN f.done THEN statement_timestamp() END,
        judging_until = CASE WHEN NOT f.done
            THEN clock_timestamp() + make_interval(mins => power(4, r.judging_attempts - 1)::int) END
    FROM still
    JOIN unnest(%(ids)s::uuid[], %(scores)s::float[], %(relevances)s::float[], %(done)s::bool[])
        AS f (id, score, relevance, done) ON f.id = still.query_id
    WHERE r.query_id = still.query_id
"""
_GIVE_BACK = f"""
    UPDATE rag_response SET judging_until = NULL, judging_attempts = judging_attempts - 1
    WHERE query_id IN (
        SELECT query_id FROM rag_response w WHERE query_id = ANY(%s) AND {_UNREAD} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608


class PendingAnswer(NamedTuple):
    """An answer that waits. counts: of its claims, by state. attempts: how often it was taken, now
    included.
    """

    query_id: UUID
    question: str
    text: str
    model: str
    counts: Mapping[str, int]
    attempts: int


class AnswerScores(NamedTuple):
    """What was found out. verdicts: by the positions of citations. done: nobody need look at it again."""

    faithfulness: float | None
    relevance: float | None
    verdicts: Mapping[int, Verdict]
    done: bool


def count_due_turns() -> int:
    """Return how many turns the waiting answers are worth, up to what may run at once."""
    waiting = ANSWERS.count_unheld(limit=BATCH * MAX_TURNS)
    return -(-waiting // BATCH)


def judge_answers() -> int:
    """Judge answers for some seconds, or until none waits; return how many. Raises DatabaseUnavailable.

    Safe to call at any time and in several workers at once.
    """
    until, count = time.monotonic() + TURN_S, 0
    while time.monotonic() < until and (answers := with_retries(_claim_answers)):
        count += _judge_batch(answers, until)
    return count


def _claim_answers() -> list[PendingAnswer]:
    """Claim the oldest that nobody took yet; else one whose worker ended or whose model was away."""
    limit = BATCH if _get_reader() is None else READ_BATCH
    fresh = execute(_CLAIM, {"least": 0, "most": 0, "limit": limit})
    if not fresh:
        ANSWERS.give_up_hopeless()
        fresh = execute(_CLAIM, {"least": 1, "most": MAX_ATTEMPTS - 1, "limit": 1})
    return [
        PendingAnswer(id_, question, text, model, json.loads(counts), attempts)
        for id_, question, text, model, counts, attempts in fresh
    ]


def _judge_batch(answers: Sequence[PendingAnswer], until: float) -> int:
    """Judge as many as there is time for, one at least; give the others back."""
    cited = with_retries(lambda: fetch_citations([one.query_id for one in answers]))
    claims = [group_claims(one.text, cited[one.query_id]) for one in answers]
    relevances, is_away = _compute_relevances(answers, claims)
    if _get_reader() is not None:
        release_connection()  # it may take its time
    opinions = asyncio.run(_ask_reader(answers, claims, until))
    found = [
        _score(*each, is_away=is_away) for each in zip(answers, claims, relevances, opinions, strict=False)
    ]
    with_retries(lambda: execute(_STORE, _store_parameters(answers, found)))
    if left := [one.query_id for one in answers[len(found) :]]:
        with_retries(lambda: execute(_GIVE_BACK, [left]))
    return len(found)


def _compute_relevances(
    answers: Sequence[PendingAnswer], claims: Sequence[Sequence[CitedClaim]]
) -> tuple[list[float | None], bool]:
    """Compute the relevances without a chat model, and whether the embedding model is away."""
    try:
        said = [[one.said() for one in those] for those in claims]
        questions = [one.question for one in answers]
        return compute_answer_relevances(list(zip(questions, said, strict=True))), False
    except EmbedderError as exc:
        log.warning("answers are judged without vectors", extra={"reason": exc.message})
        return [None] * len(answers), isinstance(exc, EmbedderUnavailable)


async def _ask_reader(
    answers: Sequence[PendingAnswer], claims: Sequence[Sequence[CitedClaim]], until: float
) -> list[Opinion | None]:
    """Ask the model about as many answers as there is time for. None: it is away, also for the others."""
    reader, found = _get_reader(), list[Opinion | None]()
    try:
        for answer, those in zip(answers, claims, strict=True):
            found.append(await _ask_reader_about(reader, answer, those) if None not in found else None)
            if time.monotonic() > until:
                break
    finally:
        if reader is not None:
            await reader.aclose()
    return found


async def _ask_reader_about(
    reader: AnswerReader | None, answer: PendingAnswer, claims: Sequence[CitedClaim]
) -> Opinion | None:
    unproved = [each for one in claims if one.is_unverified for each in one.unproved()]
    if reader is None or not unproved:
        return Opinion()
    try:
        return await reader.read(answer.question, answer.text, unproved)
    except SynthesisFailed as exc:
        log.warning("the model cannot read answers now", extra={"reason": exc.message})
        return None


def _score(
    answer: PendingAnswer,
    claims: Sequence[CitedClaim],
    relevance: float | None,
    opinion: Opinion | None,
    *,
    is_away: bool,
) -> AnswerScores:
    is_away = is_away or opinion is None
    said = iter(opinion.verdicts if opinion else ())
    verdicts: dict[int, Verdict] = {}
    of_claims: list[Verdict] = []
    for claim in claims:
        if claim.is_unverified:
            own = {one.position: verdict for one in claim.cited if (verdict := next(said, None))}
            verdicts |= own
            of_claims += [best for best in _BEST_FIRST if best in own.values()][:1]
    if opinion is not None and opinion.relevance is not None:
        relevance = opinion.relevance if relevance is None else (relevance + opinion.relevance) / 2
    score = None if answer.model == EXTRACTIVE else faithfulness(answer.counts, of_claims)
    return AnswerScores(score, relevance, verdicts, done=not is_away or answer.attempts >= MAX_ATTEMPTS)


_BEST_FIRST: tuple[Verdict, ...] = ("supported", "contradicted", "unverified")


def _store_parameters(answers: Sequence[PendingAnswer], found: Sequence[AnswerScores]) -> dict[str, Any]:
    ids = [one.query_id for one in answers[: len(found)]]
    read = [
        (id_, position, verdict)
        for id_, one in zip(ids, found, strict=True)
        for position, verdict in one.verdicts.items()
    ]
    reader = _get_reader()
    return {
        "ids": ids,
        "scores": [one.faithfulness for one in found],
        "relevances": [one.relevance for one in found],
        "done": [one.done for one in found],
        "model": reader.model_name if reader else "",
        "read": [id_ for id_, _, _ in read],
        "positions": [position for _, position, _ in read],
        "verdicts": [verdict for _, _, verdict in read],
    }


def _get_reader() -> AnswerReader | None:
    """Return the configured reader, if there is one."""
    return component("ANSWER_READER", AnswerReader) if "ANSWER_READER" in settings.KNOWLEX else None
