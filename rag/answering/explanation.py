"""At which stage a chunk was lost to a question, and with which score. Plain Python."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from rag.types.question import Question
from rag.types.retrieval import Examination, Explanation, Passage, Stage, Trail

EITHER_WILL_DO = {"hybrid": ("dense", "sparse")}  # rankings of which one is enough: the fusion decides


def explain_loss(question: Question, chunk_id: UUID, facts: Examination, trail: Trail) -> Explanation:
    """Explain where the chunk was lost. facts: of this chunk. trail: of the search that did or did not
    find it.
    """
    stages = [
        *_before_ranking(facts, question),
        *_rankings(question, facts, chunk_id, trail),
        *_after_ranking(question, chunk_id, trail),
    ]
    found = any(passage.chunk_id == chunk_id for passage in trail.passages)
    lost_at = None if found else _first_lost(stages, EITHER_WILL_DO.get(question.mode, ()))
    return Explanation(chunk_id, found, lost_at, tuple(_told(stages, lost_at)))


def _first_lost(stages: Sequence[Stage], but: Sequence[str]) -> str | None:
    return next((stage.stage for stage in stages if stage.kept is False and stage.stage not in but), None)


def _told(stages: Sequence[Stage], lost_at: str | None) -> Iterator[Stage]:
    """Behind the stage where it was lost, nothing is said of what never came there."""
    lost = False
    for stage in stages:
        yield replace(stage, kept=None) if lost and stage.rank is None and stage.score is None else stage
        lost = lost or stage.stage == lost_at


def _before_ranking(facts: Examination, question: Question) -> Iterator[Stage]:
    reason = "" if facts.read else "Its collection is not read, or it is part of a version in the making."
    yield Stage("scope", facts.read, reason=reason)
    failing = ", ".join(facts.failing)
    yield Stage("filters", not failing, reason=f"Does not pass: {failing}." if failing else "")
    if question.mode in ("hybrid", "dense"):
        reason = "" if facts.embedded else "It has no vector of the active model yet."
        yield Stage("embedded", facts.embedded, reason=reason)
    else:
        reason = "" if facts.has_words else "Its words are not stored yet; they come with its first vector."
        yield Stage("indexed", facts.has_words, reason=reason)


def _rankings(question: Question, facts: Examination, chunk_id: UUID, trail: Trail) -> Iterator[Stage]:
    candidate = next((p for p in trail.found if p.chunk_id == chunk_id), None)
    within = facts.dense_rank is not None and facts.dense_rank <= facts.limit
    if question.mode in ("hybrid", "dense"):
        kept = candidate is not None and candidate.dense_rank is not None
        yield _list_stage(
            "dense", kept, facts.dense_rank, facts.similarity, facts.limit, _dense(kept, within)
        )
    if question.mode in ("hybrid", "sparse"):
        kept = candidate is not None and candidate.sparse_rank is not None
        yield _list_stage(
            "sparse", kept, facts.sparse_rank, facts.sparse_score, facts.limit, _words(facts, kept)
        )
    if question.mode == "exact":
        reason = "" if facts.times else "The string does not stand in it."
        yield Stage(
            "exact", candidate is not None, _place(candidate, trail.found), facts.times, reason=reason
        )
    if question.mode == "hybrid":
        yield _fusion(candidate, facts, trail)


def _list_stage(
    name: str, kept: bool, rank: int | None, score: float | None, limit: int, reason: str
) -> Stage:
    return Stage(name, kept, rank, score, limit, reason)


def _dense(kept: bool, within: bool) -> str:
    if kept or not within:
        return "" if kept else "Other passages are closer to the question."
    return "Near enough by exact search; the vector index did not come upon it, or the fusion left it out."


def _words(facts: Examination, kept: bool) -> str:
    if not facts.asked:
        return "The question has no words to look for."
    held = ", ".join(f"{word} ({facts.asked[word]:.2f})" for word in facts.held) or "none"
    told = f"Of the question's words (with their idf) it holds {held}; of {', '.join(facts.asked)}."
    if facts.held and not facts.found_by_words:
        told += " None of them is rare enough to find candidates by."
    return told if kept or not facts.held or facts.sparse_rank is None else f"{told} Others score higher."


def _fusion(candidate: Passage | None, facts: Examination, trail: Trail) -> Stage:
    score = facts.fused_score if candidate is None else candidate.fused_score
    if candidate is not None:
        own = candidate.dense_rank is None and candidate.sparse_rank is None
        reason = "Found by the rest of the question, in the document that it names." if own else ""
        return Stage("fusion", True, _place(candidate, trail.found), score, facts.candidates, reason)
    reason = (
        "Neither ranking holds it." if score is None else "Others stand higher in the two rankings together."
    )
    return Stage("fusion", False, None, score, facts.candidates, reason)


def _after_ranking(question: Question, chunk_id: UUID, trail: Trail) -> Iterator[Stage]:
    judged = next((p for p in trail.judged if p.chunk_id == chunk_id), None)
    if question.reranked:
        score = judged.rerank_score if judged else None
        yield Stage("rerank", judged is not None, _place(judged, trail.judged), score, len(trail.judged))
    first = _first_of_wording(judged, trail.judged)
    same = first is None or first.chunk_id == chunk_id
    reason = "" if same or first is None else f"Chunk {first.chunk_id} says the same word for word."
    yield Stage("duplicates", judged is not None and same, reason=reason)
    rank = _place(judged, trail.passages)
    reason = "" if rank or judged is None or not same else "Others rank higher."
    yield Stage("top_k", rank is not None, rank, judged.score if judged else None, question.top_k, reason)
    relevance = judged.relevance if judged else None
    enough = relevance is not None and relevance >= question.min_relevance
    near = chunk_id in trail.near and not enough
    reason = "" if enough or relevance is None else "An answer would not be made from it."
    if near:
        reason = "A chat model is asked about it, as it is near the question."
    yield Stage("relevance", enough or near, None, relevance, question.min_relevance, reason)


def _first_of_wording(passage: Passage | None, among: Sequence[Passage]) -> Passage | None:
    if passage is None:
        return None
    wording = passage.content.split()
    return next(other for other in among if other.content.split() == wording)


def _place(passage: Passage | None, among: Sequence[Passage]) -> int | None:
    """Return its place from 1 on; None if it is not among them."""
    if passage is None:
        return None
    places = (n for n, other in enumerate(among, start=1) if other.chunk_id == passage.chunk_id)
    return next(places, None)
