"""The OpenAPI document, and what every route answers: well asked, and badly."""

import json
import re

import httpx
import pytest

from tests.golden.comparing import assert_golden
from tests.golden.conftest import PARTS
from tests.golden.exchanges import Recorder
from tests.support.stack import Stack

WITHOUT_INPUT = (
    "/health",
    "/metrics",
    "/v1/models",
    "/api/v1/embeddings/generate",
)  # nothing in it can be wrong


def schema(client: httpx.Client) -> dict:
    return client.get("/api/schema").raise_for_status().json()


def test_the_openapi_document(golden_stack: Stack):
    document = schema(golden_stack.client)
    assert_golden("openapi.json", json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False))


@pytest.mark.parametrize("part", PARTS)
def test_what_the_routes_answer(recorded: dict[str, str], part: str):
    assert_golden(f"http/{part}.txt", recorded[part])


def test_every_operation_was_well_and_badly_asked(
    golden_stack: Stack, recorder: Recorder, recorded: dict[str, str]
):
    """So that a route that is added is recorded, too. Metrics have a file of their own."""
    missing = []
    for path, operations in schema(golden_stack.client)["paths"].items():
        pattern = re.sub(r"{\w+}", "[^/]+", path)
        for method in operations:
            seen = {
                status
                for verb, asked, status in recorder.seen
                if verb == method.upper() and re.fullmatch(pattern, asked)
            }
            if path != "/metrics" and not any(status < 300 for status in seen):
                missing.append(f"{method.upper()} {path} with success")
            if path not in WITHOUT_INPUT and not any(status >= 400 for status in seen):
                missing.append(f"{method.upper()} {path} with an error")
    assert not missing


def test_the_methods_of_every_route(golden_stack: Stack):
    """What each path allows, and what it says to all other methods."""
    client = golden_stack.client
    lines = []
    for path in ["/", "/admin", "/api/docs", "/api/schema", *schema(client)["paths"]]:
        asked = re.sub(r"{\w+}", "seven", path)
        reply = client.request("TRACE", asked)
        lines.append(f"{path}\n    TRACE {reply.status_code}  Allow: {reply.headers.get('Allow', '-')}")
    assert_golden("http/methods.txt", "\n".join(lines))


def test_the_metrics(golden_stack: Stack, recorded: dict[str, str]):
    """Names, types, explanations and the names of labels; of the numbers nothing."""
    reply = golden_stack.client.get("/metrics")
    lines = [f"{reply.status_code} {reply.headers['Content-Type']}"]
    for line in reply.text.splitlines():
        name, _, rest = line.partition("{")
        labels = ", ".join(re.findall(r'(\w+)="', rest))
        told = line if line.startswith("#") else f"{name.split()[0]} {{{labels}}}".replace(" {}", "")
        if told not in lines:
            lines.append(told)
    assert_golden("metrics.txt", "\n".join(lines))
