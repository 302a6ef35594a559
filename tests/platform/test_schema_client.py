"""A client that knows nothing but /api/schema uploads, searches and asks."""

from typing import Any

import httpx
import pytest

from tests.platform.test_schema import fits
from tests.support.pdf import make_pdf

TEXT = "The lighthouse of Norderney has 253 steps. It was lit for the first time on 1 October 1874."


class SchemaClient:
    """Makes each request of the document alone: its path, media type, parameters and example."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self.document = client.get("/api/schema").raise_for_status().json()
        self._schemas = self.document["components"]["schemas"]
        self.operations = {
            operation["operationId"]: (path, method, operation)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
        }

    def call(self, name: str, /, body: Any = None, media_type: str = "", **parameters: Any) -> Any:
        """Return what the operation answers, which must be as it is described. body: else the example."""
        path, method, operation = self.operations[name]
        given = {"query": {}, "path": {}, "header": {}}
        for parameter in operation["parameters"]:
            if parameter["name"] in parameters:
                given[parameter["in"]][parameter["name"]] = parameters.pop(parameter["name"])
        assert not parameters, f"{name} takes no {', '.join(parameters)}"
        request: dict[str, Any] = {"params": given["query"], "headers": given["header"]}
        if "requestBody" in operation:
            request |= self._body(operation["requestBody"]["content"], media_type, body)
        server = self.document["servers"][0]["url"].rstrip("/")
        reply = self._client.request(method, server + path.format(**given["path"]), **request)
        described = operation["responses"].get(str(reply.status_code))
        assert described, f"{name} answered {reply.status_code}, which is not described: {reply.text}"
        assert reply.is_success, f"{name}: {reply.text}"
        kind = reply.headers.get("Content-Type", "").split(";")[0]
        assert kind in described.get("content", {"": {}}), kind
        if kind != "application/json":
            return reply.text
        self._check(reply.json(), described["content"][kind]["schema"], name)
        return reply.json()

    def _check(self, value: Any, schema: dict[str, Any], name: str) -> None:
        if schema.get("type") == "array":
            for item in value:
                fits(item, schema["items"], self._schemas, name)
        else:
            fits(value, schema.get("anyOf", [schema])[0], self._schemas, name)

    def _body(self, content: dict[str, Any], media_type: str, body: Any) -> dict[str, Any]:
        media_type = media_type or next(iter(content))
        schema = self._resolved(content[media_type]["schema"])
        if body is None:
            body = content[media_type].get("example", schema.get("example"))
        assert body is not None, "neither a body nor an example"
        if media_type == "application/json":
            return {"json": body}
        if media_type != "multipart/form-data":
            return {"content": body, "headers": {"Content-Type": media_type}}
        parts = {name: self._resolved(part) for name, part in schema["properties"].items()}
        files = {name for name, part in parts.items() if "binary" in repr(part)}
        return {
            "files": {name: part for name, part in body.items() if name in files},
            "data": {name: part for name, part in body.items() if name not in files},
        }

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        schema = schema.get("anyOf", [schema])[0]
        return self._schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


@pytest.fixture
def schema_client(client: httpx.Client) -> SchemaClient:
    return SchemaClient(client)


def test_a_file_goes_up_and_is_found_and_cited(schema_client: SchemaClient):
    pdf = ("norderney.pdf", make_pdf(TEXT), "application/pdf")
    uploaded = schema_client.call("uploadDocument", {"file": pdf})
    schema_client.call("generateDocumentEmbeddings", documentId=uploaded["documentId"])

    hits = schema_client.call("searchEmbeddings", "How many steps?", k=3)
    results = schema_client.call("search", {"query": "How many steps does the lighthouse have?"})["results"]
    answered = schema_client.call("platformQuery", {"query": "How many steps does the lighthouse have?"})

    assert hits[0]["documentId"] == results[0]["document_id"] == uploaded["documentId"]
    assert "253 steps" in answered["answer"]
    assert answered["citations"][0]["document_id"] == uploaded["documentId"]


def test_several_files_go_up_in_one_form_of_a_job(schema_client: SchemaClient):
    pdf = ("norderney.pdf", make_pdf(TEXT), "application/pdf")
    job = schema_client.call("ingest", {"file": pdf, "collection_id": "default"}, "multipart/form-data")

    report = schema_client.call("getJob", job_id=job["job_id"], wait=60)
    assert [document["status"] for document in report["documents"]] == ["completed"]


def test_what_the_page_tries_out_works_as_it_comes(schema_client: SchemaClient):
    """In this order: the example's document, then questions to it, then its evaluation."""
    job = schema_client.call("ingest")
    schema_client.call("getJob", job_id=job["job_id"], wait=60)

    answered = [
        schema_client.call("platformQuery")["answer"],
        schema_client.call("ask")["answer"],
        schema_client.call("query")["answer"],
    ]
    assert all("passage by passage" in answer for answer in answered), answered
    assert schema_client.call("search")["results"]
    assert schema_client.call("searchEmbeddings")
    schema_client.call("createCollection")
    schema_client.call("createQuestionSet", media_type="application/json")
    schema_client.call("createEvaluation")


def test_every_json_body_has_an_example_or_names_something_that_only_the_caller_knows(
    schema_client: SchemaClient,
):
    without = set()
    for name, (_, _, operation) in schema_client.operations.items():
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            schema = schema_client._resolved(content["application/json"]["schema"])
            if "example" not in schema and "example" not in content["application/json"]:
                without.add(name)

    assert without == {"giveFeedback", "replaceDocument"}


def test_a_stream_is_described_with_its_events(schema_client: SchemaClient):
    for name in ("platformQuery", "ask", "query", "ragQuery"):
        _, _, operation = schema_client.operations[name]
        stream = operation["responses"]["200"]["content"]["text/event-stream"]
        assert "event: token" in stream["example"], name
        assert "event: done" in stream["example"], name
