"""A retriever for LangChain: `pip install "knowlex-client[langchain]"`."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from knowlex_client.client import Knowlex


class KnowlexRetriever(BaseRetriever):
    """Passages, best first; what tells of them is in `metadata`, `relevance` (0 to 1) among it.

    collections, filters, top_k: as in `Knowlex.search`.
    """

    client: Knowlex
    collections: list[str] = []
    filters: dict[str, Any] = {}
    top_k: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        results = self.client.search(
            query, collections=self.collections, filters=self.filters, top_k=self.top_k
        )
        return [
            Document(
                id=str(passage.chunk_id),
                page_content=passage.content,
                metadata=passage.model_dump(mode="json", exclude={"content"}),
            )
            for passage in results.results
        ]
