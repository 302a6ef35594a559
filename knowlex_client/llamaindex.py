"""A retriever for LlamaIndex: `pip install "knowlex-client[llamaindex]"`."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from knowlex_client.client import Knowlex
from knowlex_client.models import SearchResult

SHOWN = {
    "document_name",
    "title",
    "page_number",
    "chapter",
    "section",
}  # to a model; the rest is for programs


class KnowlexRetriever(BaseRetriever):
    """Passages, best first, scored by their relevance, 0 to 1.

    collections, filters, top_k: as in `Knowlex.search`. options: of LlamaIndex's retrievers.
    """

    def __init__(
        self,
        client: Knowlex,
        *,
        collections: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
        top_k: int = 10,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._client, self._collections, self._filters, self._top_k = client, collections, filters, top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        results = self._client.search(
            query_bundle.query_str, collections=self._collections, filters=self._filters, top_k=self._top_k
        )
        return [
            NodeWithScore(node=_make_node(passage), score=passage.relevance) for passage in results.results
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _make_node(passage: SearchResult) -> TextNode:
    metadata = passage.model_dump(mode="json", exclude={"content"})
    hidden = [name for name in metadata if name not in SHOWN]
    return TextNode(
        id_=str(passage.chunk_id),
        text=passage.content,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=str(passage.document_id))},
    )
