"""/api/schema describes the Platform API as it is."""

from collections.abc import Iterator
from typing import Any

import httpx

from knowlex.base.ids import new_id
from tests.keys.test_every_route import SOURCE, SOURCE_ITEM
from tests.platform.talk import collection, ingested, text
from tests.support.stack import Stack


def fits(value: Any, schema: dict[str, Any], schemas: dict[str, Any], place: str = "body") -> None:
    """The keys and kinds of a body are those that the schema names, no more and no fewer."""
    if "$ref" in schema:
        return fits(value, schemas[schema["$ref"].rsplit("/", 1)[1]], schemas, place)
    if value is None:
        assert schema.get("nullable"), place
    elif schema["type"] == "object" and "properties" in schema:
        assert set(schema.get("required", ())) <= set(value) <= set(schema["properties"]), place
        for name, item in value.items():
            fits(item, schema["properties"][name], schemas, f"{place}.{name}")
    elif schema["type"] == "array":
        for item in value:
            fits(item, schema["items"], schemas, f"{place}[]")
    else:
        kinds = {"string": str, "integer": int, "number": int | float, "boolean": bool, "object": dict}
        assert isinstance(value, kinds[schema["type"]]), place
    return None


def test_answers_are_as_described(client: httpx.Client, server: Stack):
    schema = client.get("/api/schema").json()
    manuals = collection(client)
    job = ingested(client, text("# Lamps\n\nThe lamp is green.", "lamps.md"), to=manuals)
    question_set = {"name": "lamps", "questions": [{"question": "What is green?", "answers": ["lamp"]}]}
    set_id = client.post("/v1/question_sets", json=question_set).json()["id"]
    run = client.post("/v1/evaluations", json={"question_set": set_id, "collections": [manuals]}).json()
    asked = client.post("/v1/query", json={"query": "What is the lamp?", "collections": [manuals]}).json()
    client.post("/v1/feedback", json={"query_id": asked["query_id"], "rating": "thumbs_up"})
    source_id = new_id()
    server.sql(SOURCE, source_id, manuals, "papers", "It is not there.")
    server.sql(SOURCE_ITEM, new_id(), source_id, "lamps.md")
    webhook = {"url": "https://hooks.example/", "events": ["sync.ended"]}
    ids = {
        "webhook_id": client.post("/v1/webhooks", json=webhook).json()["id"],
        "query_id": asked["query_id"],
        "set_id": set_id,
        "evaluation_id": run["id"],
        "collection_id": manuals,
        "job_id": job["job_id"],
        "document_id": job["documents"][0]["id"],
        "conversation_id": asked["conversation_id"],
        "number": 1,
        "source_id": source_id,
        "model": "knowlex",
    }

    described = {path: item for path, item in schema["paths"].items() if path.startswith("/v1/")}
    assert len(described) >= 11
    del described["/v1/spelling"]  # wants a question
    for path, item in described.items():
        content = item.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "application/json" in content:
            answer = content["application/json"]["schema"]
            fits(client.get(path.format(**ids)).json(), answer, schema["components"]["schemas"], path)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(item)


def test_null_is_said_as_openapi_3_0_wants_it(client: httpx.Client):
    schema = client.get("/api/schema").json()
    assert schema["openapi"].startswith("3.0.")
    for one in objects(schema["components"]):
        assert one.get("type") != "null", one
        assert not isinstance(one.get("type"), list), one
        assert "enum" not in one or not one.get("nullable") or None in one["enum"], one
