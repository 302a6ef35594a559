"""A server that documents are brought into, to be looked at."""

from collections.abc import Callable

import httpx
import pytest

Ingest = Callable[..., str]


@pytest.fixture
def ingest(client: httpx.Client) -> Ingest:
    """Ingests a file and returns the document's id, when it can be searched."""

    def ingest(name: str, data: bytes, collection: str = "default") -> str:
        job = client.post(
            "/v1/ingest", files={"file": (name, data)}, data={"collection_id": collection}
        ).json()
        report = client.get(f"/v1/ingest/{job['job_id']}", params={"wait": 60}).json()
        assert report["status"] == "completed", report
        return str(report["documents"][0]["id"])

    return ingest
