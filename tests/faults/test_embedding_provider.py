"""Every way in which an embedding provider misbehaves, at the wire."""

import random
import time
from collections.abc import Callable

import pytest

from tests.conftest import provider_env
from tests.provider import Provider
from tests.support.api import assert_problem, embed, generate, ingest, together
from tests.support.invariants import (
    assert_asked_once,
    assert_embedded_once,
    assert_own_vectors,
    assert_settled,
)
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, place

BAD_ANSWERS = ["reset", "close", "half", "cut", "html", "empty", "null", "list", "bad_utf8", "huge"]
BAD_ROWS = ["fewer", "more", "missing_data", "null_vector", "duplicate_index", "missing_index"]
BAD_VECTORS = ["wrong_length", "mixed_length", "nan", "infinity", "zero"]


def embedded_well(stack: Stack) -> None:
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_settled(stack)


@pytest.mark.parametrize(("status", "times"), [(429, 1), (500, 2)])
def test_f20_a_passing_failure_is_retried_after_1_and_2_s(
    provider_server: Stack, provider: Provider, status: int, times: int
):
    chunks = ingest(provider_server.client, facts_pdf(10))["totalChunks"]
    provider.rule("status", status=status, times=times, on="embeddings")
    started = time.monotonic()
    assert embed(provider_server.client) == chunks
    assert 2**times - 1 <= time.monotonic() - started < 2**times + 15
    assert len(provider.calls("embeddings")) == times + 1
    embedded_well(provider_server)


def test_f19_retry_after_is_honoured(provider_server: Stack, provider: Provider):
    ingest(provider_server.client, facts_pdf(10))
    provider.rule("status", status=429, retry_after_s=2, times=1, on="embeddings")
    embed(provider_server.client)
    first, second = provider.calls("embeddings")
    assert second.at - first.at >= 2


def test_f20_other_batches_are_not_held_up(provider_server: Stack, provider: Provider, two_batches: int):
    """The refused batch has 2 s to wait; the other one is asked for meanwhile."""
    provider.rule("status", status=429, retry_after_s=2, times=1, on="embeddings")
    assert embed(provider_server.client) == two_batches
    refused, other, again = provider.calls("embeddings")
    assert set(refused.texts) == set(again.texts) != set(other.texts)
    embedded_well(provider_server)


def test_f21_what_cannot_be_embedded_is_told_and_done_by_a_later_call(
    provider_server: Stack, provider: Provider
):
    client = provider_server.client
    good = ingest(client, facts_pdf(30))["totalChunks"]
    assert embed(client) == good
    refused, wrong = (ingest(client, facts_pdf(30, first=first)) for first in (300, 600))
    bad = refused["totalChunks"] + wrong["totalChunks"]
    for fault, first in (("status", 300), ("nan", 600)):
        for number in range(first, first + 30):
            provider.rule(fault, contains=f"lighthouse of {place(number)} ", on="embeddings")
    problem = assert_problem(generate(client), 500, "EMBEDDING_FAILED")
    assert str(bad) in problem["message"]
    assert len(provider.calls("embeddings")) <= 2 + 4 * 3
    assert provider_server.count("embeddings_embedding") == good
    assert (
        provider_server.count("embeddings_embeddingrequest", "failed_at IS NOT NULL AND error <> ''") == bad
    )

    provider.reset()
    assert embed(client) == bad
    assert sum(provider.asked().values()) == bad
    embedded_well(provider_server)


def test_f21_the_message_counts_both_sides(provider_server: Stack, provider: Provider):
    client = provider_server.client
    ingest(client, facts_pdf(10))
    ingest(client, facts_pdf(10, first=700))
    refused = f"lighthouse of {place(703)} "
    provider.rule("status", status=400, contains=refused, on="embeddings")
    problem = assert_problem(generate(client), 500, "EMBEDDING_FAILED")
    done = provider_server.count("embeddings_embedding")
    assert str(done) in problem["message"]
    assert "1" in problem["message"]


@pytest.mark.parametrize("status", [401, 403])
def test_f22_a_refused_key_is_not_tried_again_and_never_shown(
    provider_server: Stack, provider: Provider, status: int
):
    ingest(provider_server.client, facts_pdf(10))
    echo = f"Incorrect API key provided: {provider_env(provider)['OPENAI_API_KEY']}"
    provider.rule("status", status=status, message=echo, on="embeddings")
    started = time.monotonic()
    problem = assert_problem(generate(provider_server.client), 500, "EMBEDDING_FAILED")
    assert time.monotonic() - started < 10
    assert len(provider.calls("embeddings")) == 1
    assert "key" in problem["message"].lower()
    reasons = provider_server.sql("SELECT DISTINCT error FROM embeddings_embeddingrequest")
    everything = (
        problem["message"] + str(reasons) + provider_server.log("web") + provider_server.log("worker")
    )
    assert "sk-test" not in everything


def test_f23_one_refused_text_does_not_take_its_batch_along(provider_server: Stack, provider: Provider):
    client = provider_server.client
    chunks = ingest(client, facts_pdf(30))["totalChunks"]
    assert chunks <= 20
    provider.rule("status", status=400, contains=f"lighthouse of {place(7)} ", on="embeddings")
    assert_problem(generate(client), 500, "EMBEDDING_FAILED")
    assert_embedded_once(provider_server, but=1)
    assert_own_vectors(provider_server)
    failed = provider_server.sql(
        "SELECT c.content, r.error FROM embeddings_embeddingrequest r "
        "JOIN documents_chunk c ON c.id = r.chunk_id"
    )
    assert len(failed) == 1
    assert fact(7)[:30] in " ".join(failed[0]["content"].split())
    assert failed[0]["error"]
    assert_settled(provider_server)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["hang", "slow"])
def test_f24_a_model_that_hangs_is_given_up_and_asked_again(
    make_stack: Callable[..., Stack], provider: Provider, fault: str
):
    stack = make_stack(**provider_env(provider), KNOWLEX_EMBEDDING_TIMEOUT_SECONDS="1")
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    provider.rule(fault, times=1, seconds=30, on="embeddings")
    started = time.monotonic()
    assert embed(stack.client) == chunks
    assert time.monotonic() - started < 20  # it would hang for half a minute
    embedded_well(stack)


def asked_twice_each(stack: Stack, provider: Provider, faults: list[str]) -> None:
    """All at once, each for a document of its own: each waits a second for its next try.

    faults: those of rules, or a status.
    """
    made = {}
    for number, fault in enumerate(faults):
        made[fault] = ingest(stack.client, facts_pdf(10, first=100 * number))
        how = {"fault": "status", "status": int(fault)} if fault.isdigit() else {"fault": fault}
        provider.rule(**how, times=1, contains=mark(number), on="embeddings")
    counts = together([lambda id_=one["documentId"]: embed(stack.client, id_) for one in made.values()])
    assert dict(zip(faults, counts, strict=True)) == {name: one["totalChunks"] for name, one in made.items()}
    assert min(counts) > 1
    calls = [" ".join(call.texts) for call in provider.calls("embeddings")]
    tries = {fault: sum(mark(number) in call for call in calls) for number, fault in enumerate(faults)}
    assert tries == dict.fromkeys(faults, 2)
    assert len(calls) == 2 * len(faults)
    embedded_well(stack)


def mark(number: int) -> str:
    return f"lighthouse of {place(100 * number)} "


def test_f25_a_broken_answer_is_a_failed_try(provider_server: Stack, provider: Provider):
    children = {child.pid for child in provider_server.worker_children()}
    asked_twice_each(provider_server, provider, ["502", "503", *BAD_ANSWERS])
    assert {child.pid for child in provider_server.worker_children()} == children


def test_f26_f28_wrong_vectors_are_refused_as_a_whole_and_asked_again(
    provider_server: Stack, provider: Provider
):
    asked_twice_each(provider_server, provider, [*BAD_ROWS, *BAD_VECTORS])


@pytest.mark.parametrize("fault", ["reversed", "shuffled"])
def test_f27_rows_in_another_order_are_stored_by_their_index(
    provider_server: Stack, provider: Provider, fault: str
):
    ingest(provider_server.client, facts_pdf(30))
    provider.rule(fault, on="embeddings")
    embed(provider_server.client)
    assert len(provider.calls("embeddings")) == 1
    embedded_well(provider_server)


def test_f28_equal_vectors_are_accepted(provider_server: Stack, provider: Provider):
    chunks = ingest(provider_server.client, facts_pdf(10))["totalChunks"]
    provider.rule("equal", on="embeddings")
    assert embed(provider_server.client) == chunks
    assert_embedded_once(provider_server)


@pytest.mark.slow
def test_f28_vectors_that_stay_wrong_are_a_told_failure(provider_server: Stack, provider: Provider):
    chunks = ingest(provider_server.client, facts_pdf(10))["totalChunks"]
    provider.rule("zero", on="embeddings")
    assert_problem(generate(provider_server.client), 500, "EMBEDDING_FAILED")
    assert provider_server.count("embeddings_embedding") == 0
    assert provider_server.count("embeddings_embeddingrequest", "failed_at IS NOT NULL") == chunks


@pytest.mark.parametrize("facts", [120, pytest.param(800, marks=pytest.mark.slow)])
def test_f29_a_third_of_all_calls_failing_is_survived_in_four_calls(
    provider_server: Stack, provider: Provider, chance: random.Random, facts: int
):
    chunks = ingest(provider_server.client, facts_pdf(facts))["totalChunks"]
    provider.rule("status", status=500, rate=0.3, seed=chance.randrange(1000), on="embeddings")
    embedded = 0
    for _ in range(4):
        generate(provider_server.client)
        embedded = provider_server.count("embeddings_embedding")
        if embedded == chunks:
            break
    assert embedded == chunks
    embedded_well(provider_server)
    assert_asked_once(provider_server, provider, beyond=3 * chunks)  # a call that failed asked, too
