"""The parts that answer one service's questions; those of a kind that can be shared are, in each process."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import platformdirs

from embeddings.clients.chroma import ChromaClient
from embeddings.embedders.local import LocalEmbedder
from embeddings.protocols import Embedder
from knowlex.net.json_client import JsonWire
from rag.answering.pipeline import Pipeline
from rag.chat.ollama import OllamaGenerate
from rag.chat.protocol import ChatModel
from rag.context.assembly import ContextMaker
from rag.protocols import Synthesizer
from rag.rerankers.sentence import SentenceReranker
from rag.retrievers.foreign.chroma import ChromaReader
from rag.retrievers.foreign.headed import HeadedReranker, assess_headed
from rag.retrievers.foreign.memory import MemoryReader
from rag.retrievers.foreign.protocols import CollectionReader, Record
from rag.retrievers.foreign.retriever import ForeignRetriever
from rag.service.environment import ServiceEnvironment
from rag.service.synthesizer import MAX_TOKENS, NamingSynthesizer
from rag.synthesizers.extractive import ExtractiveSynthesizer

PROJECT = Path(__file__).resolve().parent.parent.parent
# As the document has them; Ollama itself calls the last one num_predict, which is sent as well.
OPTIONS = {"top_p": 0.9, "max_tokens": MAX_TOKENS}
TEMPERATURE = 0.1
OLLAMA_BYTES = 4 * 1024 * 1024

_local: dict[tuple[int, Path], LocalEmbedder] = {}  # by process: a forked one has lost the threads of another
_finding = Lock()


@dataclass(slots=True)
class Parts:
    """chat: None where answers are extractive; ollama: where nothing asks it. users: questions that are being
    answered.
    """

    embedder: Embedder
    reader: CollectionReader
    retriever: ForeignRetriever
    chat: ChatModel | None = None
    ollama: JsonWire | None = None
    users: int = 0
    leaving: bool = False

    def synthesizer(self) -> Synthesizer:
        """For one question."""
        return NamingSynthesizer(self.chat) if self.chat else ExtractiveSynthesizer()

    def pipeline(self, synthesizer: Synthesizer) -> Pipeline:
        return Pipeline(
            self.retriever,
            HeadedReranker(SentenceReranker()),
            assess_headed,
            synthesizer,
            contexts=ContextMaker(beside=None),
        )

    async def aclose(self) -> None:
        """Close this event loop's connections, the last user of them those that are in use."""
        self.leaving = True
        if self.users:
            return
        for part in (self.embedder, self.reader, self.chat, self.ollama):
            aclose = getattr(part, "aclose", None)
            if aclose is not None:
                await aclose()


def build(settings: ServiceEnvironment) -> Parts:
    """Connects to nothing."""
    embedder, reader = embedder_of(settings), _reader(settings)
    parts = Parts(embedder, reader, ForeignRetriever(reader, embedder))
    return _with_ollama(parts, settings, chat=True)


def build_for_texts(settings: ServiceEnvironment, records: Sequence[Record], *, chat: bool) -> Parts:
    """Embeds them. chat: Ollama writes the answers. Raises EmbedderError."""
    embedder = embedder_of(settings)
    vectors = embedder.embed([record.text for record in records])
    reader = MemoryReader(records, vectors)
    parts = Parts(embedder, reader, ForeignRetriever(reader, embedder))
    return _with_ollama(parts, settings, chat=chat)


def _with_ollama(parts: Parts, settings: ServiceEnvironment, *, chat: bool) -> Parts:
    if chat or settings.embeds_by_ollama:
        parts.ollama = JsonWire(settings.ollama_host, max_bytes=OLLAMA_BYTES)
    if chat:
        parts.chat = _chat(settings)
    return parts


def embedder_of(settings: ServiceEnvironment) -> Embedder:
    if settings.local_model is None:
        from embeddings.embedders.ollama import OllamaEmbedder

        return OllamaEmbedder(
            host=settings.ollama_host,
            model_name=settings.embedding_model,
            keep_alive=settings.ollama_keep_alive,
        )
    folder = models_dir(settings)
    with _finding:
        return _local.setdefault((os.getpid(), folder), LocalEmbedder(models_dir=folder))


def models_dir(settings: ServiceEnvironment) -> Path:
    """As chosen; else that of the checkout that this is, if it was set up; else one of the user's caches."""
    if settings.knowlex_models_dir:
        return Path(settings.knowlex_models_dir).expanduser().absolute()
    own = PROJECT / ".models"
    return own if own.is_dir() else platformdirs.user_cache_path("knowlex") / "models"


def _reader(settings: ServiceEnvironment) -> CollectionReader:
    client = ChromaClient(
        settings.vector_store_url,
        tenant=settings.vector_store_tenant,
        database=settings.vector_store_database,
        api_key=settings.vector_store_api_key,
        timeout_s=settings.vector_store_timeout_seconds,
        older=True,
    )
    return ChromaReader(client, settings.vector_store_collection)


def _chat(settings: ServiceEnvironment) -> OllamaGenerate:
    return OllamaGenerate(
        host=settings.ollama_host,
        model_name=settings.ollama_model,
        timeout_s=settings.ollama_timeout_seconds,
        temperature=TEMPERATURE,
        keep_alive=settings.ollama_keep_alive,
        options=OPTIONS,
    )
