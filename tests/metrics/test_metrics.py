"""GET /metrics, read as Prometheus reads it."""

from collections.abc import Callable

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.platform.talk import collection, ingested, text
from tests.support.stack import Stack
from tests.support.waiting import wait_until

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scraped(client: httpx.Client) -> Samples:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0.0)


def grown(client: httpx.Client, act: Callable[[], object]) -> Callable[..., float]:
    """By how much a metric grew while `act` ran."""
    before = scraped(client)
    act()
    after = scraped(client)
    return lambda name, **labels: value(after, name, **labels) - value(before, name, **labels)


def test_an_answer_is_counted_with_its_stages(client: httpx.Client):
    lamps = collection(client)
    ingested(client, text("# Lamps\n\nThe lamp of the lighthouse is green.", "lamps.md"), to=lamps)
    body = {"query": "What colour is the lamp of the lighthouse?", "collections": [lamps]}

    more = grown(client, lambda: client.post("/v1/query", json=body).raise_for_status())

    assert more("knowlex_answers_total", face="platform", outcome="answered") == 1
    assert more("knowlex_answer_seconds_count", face="platform") == 1
    assert more("knowlex_stage_seconds_count", stage="retrieve") == 1
    assert more("knowlex_requests_total", method="POST", route="/v1/query", status="200") == 1


def test_the_cache_tells_its_hits_and_misses(client: httpx.Client):
    lamps = collection(client)
    ingested(client, text("# Lamps\n\nThe lamp of the lighthouse is red.", "lamps.md"), to=lamps)
    body = {"query": "What colour does the lighthouse's lamp have?", "collections": [lamps]}

    def ask_until_remembered() -> None:
        assert not client.post("/v1/query", json=body).json()["cached"]
        wait_until(lambda: client.post("/v1/query", json=body).json()["cached"], what="the cache")

    more = grown(client, ask_until_remembered)

    assert more("knowlex_cache_lookups_total", kind="answer", result="hit") == 1
    assert more("knowlex_cache_lookups_total", kind="answer", result="miss") >= 1
    assert more("knowlex_cache_lookups_total", kind="question_vector", result="miss") == 1


def test_errors_are_counted_by_their_code_and_unknown_paths_make_no_series(client: httpx.Client):
    def go_wrong() -> None:
        assert client.post("/v1/query", json={"query": " "}).status_code == 400
        assert client.get("/no/such/path").status_code == 404
        assert client.delete("/health").status_code == 405

    more = grown(client, go_wrong)

    assert more("knowlex_errors_total", code="INVALID_QUERY") == 1
    assert more("knowlex_errors_total", code="NOT_FOUND") == 1
    assert more("knowlex_requests_total", method="GET", route="none", status="404") == 1
    assert more("knowlex_requests_total", method="DELETE", route="/health", status="405") == 1


def test_the_state_of_the_installation_is_told(client: httpx.Client):
    lamps = collection(client)
    more = grown(client, lambda: ingested(client, text("# Lamps\n\nA lamp.", "lamp.md"), to=lamps))
    samples = scraped(client)

    assert more("knowlex_documents") == 1
    assert more("knowlex_chunks") >= 1
    assert value(samples, "knowlex_pending_chunks") == 0
    assert value(samples, "knowlex_up", part="database") == 1
    assert value(samples, "knowlex_up", part="broker") == 1
    assert value(samples, "knowlex_workers") > 0
    assert ("knowlex_queue_length", frozenset({("queue", "knowlex")})) in samples


def test_a_scrape_works_without_the_broker(server: Stack):
    server.stop_broker()
    samples = scraped(server.client)

    assert value(samples, "knowlex_up", part="broker") == 0
    assert value(samples, "knowlex_up", part="database") == 1
    assert not any(name == "knowlex_queue_length" for name, _ in samples)
