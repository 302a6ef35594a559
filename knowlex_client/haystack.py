"""A retriever for Haystack: `pip install "knowlex-client[haystack]"`."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret, deserialize_secrets_inplace

from knowlex_client.client import KEY_VARIABLE, Knowlex

KEY = Secret.from_env_var(KEY_VARIABLE, strict=False)


@component
class KnowlexRetriever:
    """Passages, best first, scored by their relevance, 0 to 1. Saved with its pipeline, but for the key.

    url: KNOWLEX_URL unless given. collections, filters, top_k: as in `Knowlex.search`.
    """

    def __init__(
        self,
        url: str = "",
        api_key: Secret = KEY,
        collections: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
    ) -> None:
        self.url, self.api_key, self.collections = url, api_key, collections or []
        self.filters, self.top_k = filters, top_k
        self._client = Knowlex(url, key=api_key.resolve_value() or "")

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        results = self._client.search(
            query, collections=self.collections, filters=filters or self.filters, top_k=top_k or self.top_k
        )
        documents = [
            Document(
                id=str(passage.chunk_id),
                content=passage.content,
                meta=passage.model_dump(mode="json", exclude={"content"}),
                score=passage.relevance,
            )
            for passage in results.results
        ]
        return {"documents": documents}

    def to_dict(self) -> dict[str, Any]:
        given = {"collections": self.collections, "filters": self.filters, "top_k": self.top_k}
        saved: dict[str, Any] = default_to_dict(self, url=self.url, api_key=self.api_key.to_dict(), **given)
        return saved

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "KnowlexRetriever":
        deserialize_secrets_inplace(data["init_parameters"], keys=["api_key"])
        loaded: KnowlexRetriever = default_from_dict(cls, data)
        return loaded
