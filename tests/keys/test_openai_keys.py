"""OpenAI's client with keys: without one, with a wrong one, and with the key of one collection."""

import openai
import pytest

from tests.keys.key_factory import as_key, make_key
from tests.platform import talk
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
