"""The pipeline of one service and its health; in each process, services share the local embedding model."""

import asyncio
import logging
import os
from collections.abc import Coroutine, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import platformdirs

from embeddings.embedders.local import LocalEmbedder
from embeddings.embedders.ollama import OllamaEmbedder
from embeddings.stores.chroma_client import ChromaClient
from knowlex.base.errors import KnowlexError
from knowlex.base.time_limits import finish_within
from knowlex.net.json_client import JsonWire, Unreachable
from knowlex.net.ollama import names_model
from rag.answering.pipeline import Pipeline
from rag.chat.ollama import OllamaGenerate
from rag.context.assembly import ContextMaker
from rag.rerankers.sentence import SentenceReranker
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.answer import Answer as PipelineAnswer
from rag.types.question import Question
from rag.types.retrieval import Passage
from rag_service.citations import NamedSource, write_markers
from rag_service.environment import ServiceEnvironment
from rag_service.headings import HeadingReranker, assess_with_headings
from rag_service.models import FOUND, NOT_FOUND, Answer, Citation, health_report, milliseconds_since
from rag_service.questions import CheckedQuestion
from rag_service.readers import ChromaReader, CollectionReader, MemoryReader, StoredRecord
from rag_service.retriever import CollectionFilters, CollectionRetriever
from rag_service.synthesizer import MAX_TOKENS, NamedSourceSynthesizer

T = TypeVar("T")
log = logging.getLogger("rag_service")
PROJECT = Path(__file__).resolve().parent.parent
# By the Service's document; Ollama itself calls the last one num_predict, which is sent as well.
OPTIONS = {"top_p": 0.9, "max_tokens": MAX_TOKENS}
TEMPERATURE = 0.1
OLLAMA_BYTES = 4 * 1024 * 1024
LOGGED_CHARS = 2000  # of a model's reply
CHECK_S = 1.0
LOADING_S = 2.0  # for the local model, when it is first asked for; the loading goes on afterwards
NOT_IMPLEMENTED = 501  # what only generates may stand in Ollama's place
FAILURES = (Unreachable, TimeoutError, OSError, ValueError, ImportError, KnowlexError)

_embedders: dict[tuple[int, Path], LocalEmbedder] = {}  # by process: a forked one has lost the threads
_embedders_lock = Lock()


class ServicePipeline:
    """Answers the questions of one service.

    records: the texts to answer from, None for the collection in Chroma. chat: Ollama writes the answers,
    else they are extractive. Connects to nothing; raises EmbedderError if the records cannot be embedded.
    """

    def __init__(
        self, settings: ServiceEnvironment, records: Sequence[StoredRecord] | None, *, chat: bool
    ) -> None:
        self._settings = settings
        self._embedder = _build_embedder(settings)
        self._reader: CollectionReader
        if records is None:
            self._reader = _build_reader(settings)
        else:
            self._reader = MemoryReader(records, self._embedder.embed([record.text for record in records]))
        self._retriever = CollectionRetriever(self._reader, self._embedder)
        self._chat = _build_chat(settings) if chat else None
        self._ollama: JsonWire | None = None
        if chat or settings.embeds_by_ollama:
            self._ollama = JsonWire(settings.ollama_host, max_bytes=OLLAMA_BYTES)

    async def answer(self, checked: CheckedQuestion, request_id: str, started: float) -> Answer:
        """started: by `time.perf_counter()`."""
        synthesizer = NamedSourceSynthesizer(self._chat) if self._chat else ExtractiveSynthesizer()
        pipeline = Pipeline(
            self._retriever,
            HeadingReranker(SentenceReranker()),
            assess_with_headings,
            synthesizer,
            contexts=ContextMaker(beside=None),
        )
        result = await pipeline.answer(_to_question(checked, self._settings))
        if result.reason == "not_supported":
            reply = getattr(synthesizer, "reply", "")[:LOGGED_CHARS]
            extra = {"request_id": request_id, "error_type": "NoCitationsFound", "llm_output": reply}
            log.warning("NoCitationsFound (request_id=%s): %r", request_id, reply, extra=extra)
        answer = _to_answer(result, request_id, milliseconds_since(started))
        details = {"processing_time_ms": answer.processing_time_ms, "reason": result.reason}
        log.info("answered (request_id=%s)", request_id, extra={"request_id": request_id, **details})
        return answer

    async def check_health(self) -> dict[str, str]:
        """Check all at once, none for much more than a second.

        unhealthy: nothing can be looked up. degraded: no answer can be written, or no question be embedded.
        """
        reached, missing, loaded = await asyncio.gather(
            _within(CHECK_S, self._reach_store()),
            _within(CHECK_S, self._find_missing_models()),
            self._load_model(),
        )
        if self._settings.embeds_by_ollama:
            loaded = missing is not None and self._settings.embedding_model not in missing
        can_write = self._chat is None or (missing is not None and self._settings.ollama_model not in missing)
        status = "healthy" if can_write and loaded else "degraded"
        if not reached:
            status = "unhealthy"
        if self._ollama is None:
            ollama = "not_configured"
        else:
            ollama = "unreachable" if missing is None else "connected"
        return health_report(status, ollama=ollama, vector_store=bool(reached), embedding_model=loaded)

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._reader.aclose()
        for client in (self._embedder, self._chat, self._ollama):
            if isinstance(client, OllamaEmbedder | OllamaGenerate | JsonWire):
                await client.aclose()

    async def _reach_store(self) -> bool:
        await self._reader.ping()
        return True

    async def _load_model(self) -> bool:
        if self._settings.embeds_by_ollama:
            return False
        return await _within(LOADING_S, self._embedder.aembed_query("warm up")) is not None

    async def _find_missing_models(self) -> set[str]:
        """Return which of the needed models Ollama says it lacks; one that lists no models says nothing."""
        if self._ollama is None:
            return set()
        reply = await self._ollama.send("GET", "/api/tags", timeout_s=CHECK_S)
        if reply.status >= 500 and reply.status != NOT_IMPLEMENTED:
            raise Unreachable(f"HTTP {reply.status}")
        needed = {self._settings.ollama_model, self._settings.embedding_model}
        return {model for model in needed if names_model(reply.body, model) is False}


def _build_reader(settings: ServiceEnvironment) -> ChromaReader:
    client = ChromaClient(
        settings.vector_store_url,
        tenant=settings.vector_store_tenant,
        database=settings.vector_store_database,
        api_key=settings.vector_store_api_key,
        timeout_s=settings.vector_store_timeout_seconds,
        older=True,
    )
    return ChromaReader(client, settings.vector_store_collection)


def _build_embedder(settings: ServiceEnvironment) -> LocalEmbedder | OllamaEmbedder:
    if settings.embeds_by_ollama:
        return OllamaEmbedder(
            host=settings.ollama_host,
            model_name=settings.embedding_model,
            keep_alive=settings.ollama_keep_alive,
        )
    folder = find_models_dir(settings)
    with _embedders_lock:
        return _embedders.setdefault((os.getpid(), folder), LocalEmbedder(models_dir=folder))


def find_models_dir(settings: ServiceEnvironment) -> Path:
    """Return the chosen one; else that of this checkout, if it was set up; else one of the user's caches."""
    if settings.knowlex_models_dir:
        return Path(settings.knowlex_models_dir).expanduser().absolute()
    own = PROJECT / ".models"
    return own if own.is_dir() else platformdirs.user_cache_path("knowlex") / "models"


def _build_chat(settings: ServiceEnvironment) -> OllamaGenerate:
    return OllamaGenerate(
        host=settings.ollama_host,
        model_name=settings.ollama_model,
        timeout_s=settings.ollama_timeout_seconds,
        temperature=TEMPERATURE,
        keep_alive=settings.ollama_keep_alive,
        options=OPTIONS,
    )


def _to_question(checked: CheckedQuestion, settings: ServiceEnvironment) -> Question:
    return Question(
        text=checked.text,
        collection_ids=(),
        top_k=checked.max_results or settings.max_retrieval_results,
        min_relevance=settings.min_confidence_threshold,
        filters=CollectionFilters(equal=checked.filters),
    )


def _to_answer(result: PipelineAnswer, request_id: str, processing_time_ms: int) -> Answer:
    if not result.answered:
        return Answer(
            answer=None,
            confidence=0.0,
            message=NOT_FOUND,
            request_id=request_id,
            processing_time_ms=processing_time_ms,
        )
    return Answer(
        answer=write_markers(result.text, result.context),
        citations=[_to_citation(result.context[number - 1]) for number in result.cited],
        confidence=result.confidence,
        message=FOUND,
        request_id=request_id,
        processing_time_ms=processing_time_ms,
    )


def _to_citation(passage: Passage) -> Citation:
    return Citation(
        document=passage.document_name,
        page=passage.page_number,
        section=passage.section or passage.chapter or None,
        chunk_id=passage.stored_id or str(passage.chunk_id),
        text=NamedSource.of(passage).marker,
    )


async def _within(limit_s: float, check: Coroutine[Any, Any, T]) -> T | None:
    """Return the check's result; None if it fails, or takes longer: then it is left to itself."""
    try:
        return await finish_within(check, within_s=limit_s)
    except FAILURES:
        return None
