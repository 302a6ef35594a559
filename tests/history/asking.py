"""A library with two documents, and questions to it."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.api import embed, ingest
from tests.support.stack import Stack
from tests.support.texts import markdown

QUESTION = "How tall is the lighthouse of Norderney?"
FACT = "The lighthouse of Norderney is 54 metres tall."
UNKNOWN = "Who won the chess tournament of 1931?"


@dataclass(frozen=True, slots=True)
class Library:
    stack: Stack
    client: httpx.Client
    towers: str
    ships: str

    def ask(self, text: str = QUESTION, **fields: Any) -> dict[str, Any]:
        reply = self.client.post("/v1/query", json={"query": text, **fields})
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def explained(self, query_id: str) -> dict[str, Any]:
        reply = self.client.get(f"/v1/queries/{query_id}")
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def listed(self, **parameters: Any) -> list[str]:
        """Ids, newest first."""
        reply = self.client.get("/v1/queries", params=parameters)
        assert reply.status_code == 200, reply.text
        return [one["query_id"] for one in reply.json()["queries"]]

    def replayed(self, query_id: str) -> dict[str, Any]:
        reply = self.client.post(f"/v1/queries/{query_id}/replay", json={})
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def rate(self, query_id: str, **fields: Any) -> httpx.Response:
        return self.client.post("/v1/feedback", json={"query_id": query_id, **fields})


def make_library(stack: Stack) -> Library:
    client = stack.client
    towers = [("North", f"{FACT} It was lit in 1874."), ("South", "The lighthouse of Borkum has a red roof.")]
    ships = [("Ferries", "The ferry to Juist needs high water. It sails twice a day.")]
    ids = [
        ingest(client, markdown(title, sections), f"{title.lower()}.md")["documentId"]
        for title, sections in (("Towers", towers), ("Ships", ships))
    ]
    embed(client)
    client.get("/v1/queries")  # what earlier tests asked is written now
    stack.sql("TRUNCATE rag_query CASCADE")
    return Library(stack, client, *ids)
