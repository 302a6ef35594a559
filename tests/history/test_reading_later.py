"""KNOWLEX_CLAIM_JUDGE=chat, over HTTP: an answer is sent at once, and read by the chat model afterwards."""

import json
from typing import Any

from tests.conftest import MakeStack, provider_env
from tests.history.asking import FACT, make_library
from tests.provider import Provider
from tests.support.waiting import wait_until


def said(prompt: Any) -> str:
    if "Claim 1:" not in prompt.user:
        return "Whoever climbs the lighthouse of Norderney to its very top is 54 metres above its foot [1]."
    claims = [{"claim": 1, "verdict": "supported", "quote": FACT}]
    return json.dumps({"claims": claims, "relevance": 1})


def test_the_verdict_of_the_chat_model_is_shown_beside_what_was_sent(
    make_stack: MakeStack, provider: Provider
):
    provider.rule("schema_ignored", on="chat")
    provider.says(said)
    env = provider_env(provider) | {"KNOWLEX_EMBEDDER": "local", "KNOWLEX_CLAIM_JUDGE": "chat"}
    library = make_library(make_stack(workers=1, **env))

    asked = library.ask()
    assert [one["support"] for one in asked["citations"]] == ["unverified"]
    told = wait_until(
        lambda: _judged(library.explained(asked["query_id"])), timeout_s=60, what="a verdict on the claim"
    )

    (citation,) = told["citations"]
    assert (citation["support"], citation["verdict"]) == ("unverified", "supported")
    assert citation["judged_by"]
    assert told["answer"] == asked["answer"]
    assert told["faithfulness_score"] == 1
    assert told["quality"]["answer_relevance"] > 0.5


def _judged(told: dict[str, Any]) -> dict[str, Any] | None:
    return told if told["faithfulness_judged_at"] else None
