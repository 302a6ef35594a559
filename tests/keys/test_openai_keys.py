"""OpenAI's client, Dify and our own client: without a key, with a wrong one, with that of one collection."""

import httpx
import openai
import pytest

from knowlex_client import Forbidden, Knowlex, Unauthorized
from tests.keys.key_factory import as_key, make_key
from tests.platform import talk, test_dify
from tests.platform.test_openai import BELFRY, TALL, asked, client_of
from tests.support.api import assert_openai_error
from tests.support.stack import Stack


@pytest.fixture
def bound(keyed: Stack) -> str:
    """A key that may read one collection of two."""
    admin = as_key(keyed, make_key(keyed, "admin"))
    for name in ("ours", "theirs"):
        talk.ingested(
            admin, talk.text(f"{BELFRY} So {name} say.", f"{name}.txt"), to=talk.collection(admin, name)
        )
    return make_key(keyed, "read", collections=["ours"])


def test_a_wrong_key_is_an_authentication_error(keyed: Stack):
    for call in (
        lambda client: client.models.list(),
        lambda client: client.chat.completions.create(model="knowlex", messages=asked(TALL)),
        lambda client: client.chat.completions.create(model="knowlex", messages=asked(TALL), stream=True),
        lambda client: client.embeddings.create(model="knowlex", input="x"),
    ):
        with pytest.raises(openai.AuthenticationError) as raised:
            call(client_of(keyed, "kx_wrong"))
        assert raised.value.code == "invalid_api_key"
    assert_openai_error(keyed.client.get("/v1/models"), 401, "invalid_api_key")


def test_a_bound_read_key_sees_and_asks_its_own(keyed: Stack, bound: str):
    client = client_of(keyed, bound)
    assert [model.id for model in client.models.list()] == ["knowlex", "knowlex/ours"]
    for model in ("knowlex", "knowlex/ours"):
        reply = client.chat.completions.create(model=model, messages=asked(TALL))
        names = {one["document_name"] for one in reply.model_extra["knowlex"]["citations"]}
        assert names == {"ours.txt"}
        *_, last = client.chat.completions.create(model=model, messages=asked(TALL), stream=True)
        assert last.model_extra["knowlex"]["citations"] == reply.model_extra["knowlex"]["citations"]
    for call in (
        lambda: client.models.retrieve("knowlex/theirs"),
        lambda: client.chat.completions.create(model="knowlex/theirs", messages=asked(TALL)),
        lambda: client.chat.completions.create(model="knowlex/theirs", messages=asked(TALL), stream=True),
        lambda: client.models.retrieve("knowlex/nowhere"),
    ):
        with pytest.raises(openai.NotFoundError) as raised:
            call()
        assert "does not exist or you do not have access to it" in raised.value.message
    assert client.embeddings.create(model="knowlex", input="x").data


def test_dify_is_told_its_own_codes(keyed: Stack, bound: str):
    for sent, knowledge, status, code in (
        (f"Bearer {bound}", "ours", 200, None),
        (f"Bearer {bound}", "theirs", 403, 1002),
        (f"Bearer {bound}", "nowhere", 404, 2001),
        (f"Bearer {bound[:-1]}", "ours", 401, 1002),
        (bound, "ours", 401, 1001),
        ("", "ours", 401, 1001),
    ):
        client = httpx.Client(base_url=keyed.url, headers={"Authorization": sent}, timeout=90)
        reply = test_dify.asked(client, TALL, knowledge_id=knowledge)
        assert (reply.status_code, reply.json().get("error_code")) == (status, code), reply.text
    tried_out = as_key(keyed, bound).post(test_dify.PATH)  # as Dify does when an endpoint is saved
    assert tried_out.status_code not in (403, 404, 502)


def test_our_own_client_takes_address_and_key_from_the_environment(
    keyed: Stack, bound: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KNOWLEX_URL", keyed.url)
    with Knowlex(key=bound[:-1]) as stranger, pytest.raises(Unauthorized) as raised:
        stranger.ask(TALL)
    assert raised.value.code == "UNAUTHORIZED"
    monkeypatch.setenv("KNOWLEX_API_KEY", bound)
    with Knowlex() as client:
        assert [one.name for one in client.collections()] == ["ours"]
        assert {one.document_name for one in client.ask(TALL).citations} == {"ours.txt"}
        with pytest.raises(Forbidden):
            client.create_collection("more")
