"""The frameworks that `ingest.py` measures, each from its own parts: read a PDF, split it, embed the chunks.

Every engine is given the same embedding function; what differs is how it reads, how it splits, and in what
batches it embeds. Runs in the environment of the other frameworks, so nothing here imports Django.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
Embed = Callable[[Sequence[str]], Sequence[Any]]
Ingest = Callable[[Path], tuple[int, int]]  # a PDF -> (pages, chunks)
CHUNK_TOKENS, OVERLAP_TOKENS = 300, 50


def knowlex(embed: Embed, count: Callable[[str], int]) -> Ingest:
    sys.path.insert(0, str(ROOT))
    from documents.chunkers.sentence import SentenceChunker
    from documents.extractors.sandbox.extractor import SandboxedExtractor
    from documents.text.tokens import WordPieceCounter
    from documents.types import ChunkingSettings

    extractor, chunker = SandboxedExtractor(), SentenceChunker(tokenizer=WordPieceCounter())
    sizes = ChunkingSettings(size=CHUNK_TOKENS, overlap=OVERLAP_TOKENS)

    def ingest(path: Path) -> tuple[int, int]:
        extraction = extractor.extract(path, filename=path.name)
        texts = [chunk.content for chunk in chunker.split(extraction, sizes)]
        for start in range(0, len(texts), 20):
            for text in texts[start : start + 20]:  # one text a run: no padding
                embed([text])
        return len(extraction.pages), len(texts)

    return ingest


def llamaindex(embed: Embed, count: Callable[[str], int]) -> Ingest:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.readers.file import PDFReader

    class Model(BaseEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [list(map(float, vector)) for vector in embed(texts)]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    splitter = SentenceSplitter(
        chunk_size=CHUNK_TOKENS, chunk_overlap=OVERLAP_TOKENS, tokenizer=lambda text: [0] * count(text)
    )
    pipeline = IngestionPipeline(transformations=[splitter, Model()], disable_cache=True)

    def ingest(path: Path) -> tuple[int, int]:
        pages = PDFReader().load_data(path)
        return len(pages), len(pipeline.run(documents=pages))

    return ingest


def langchain(embed: Embed, count: Callable[[str], int]) -> Ingest:
    from langchain_community.document_loaders import PyPDFLoader
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Model(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            batches = [embed(texts[start : start + 32]) for start in range(0, len(texts), 32)]
            return [list(map(float, vector)) for batch in batches for vector in batch]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_TOKENS, chunk_overlap=OVERLAP_TOKENS, length_function=count
    )
    store = InMemoryVectorStore(Model())

    def ingest(path: Path) -> tuple[int, int]:
        pages = PyPDFLoader(str(path)).load()
        chunks = splitter.split_documents(pages)
        store.add_documents(chunks)
        return len(pages), len(chunks)

    return ingest


def haystack(embed: Embed, count: Callable[[str], int]) -> Ingest:
    from haystack.components.converters import PyPDFToDocument
    from haystack.components.preprocessors import DocumentSplitter
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.document_stores.types import DuplicatePolicy

    converter = PyPDFToDocument()
    splitter = DocumentSplitter(split_by="word", split_length=220, split_overlap=35)
    store = InMemoryDocumentStore()
    if hasattr(splitter, "warm_up"):
        splitter.warm_up()

    def ingest(path: Path) -> tuple[int, int]:
        documents = converter.run(sources=[path])["documents"]
        chunks = splitter.run(documents=documents)["documents"]
        for start in range(0, len(chunks), 32):
            batch = chunks[start : start + 32]
            for chunk, vector in zip(batch, embed([chunk.content or "" for chunk in batch]), strict=True):
                chunk.embedding = list(map(float, vector))
        store.write_documents(chunks, policy=DuplicatePolicy.OVERWRITE)  # the warm-up file comes twice
        return sum((document.content or "").count("\f") + 1 for document in documents), len(chunks)

    return ingest


ENGINES = {"knowlex": knowlex, "llamaindex": llamaindex, "langchain": langchain, "haystack": haystack}
