"""Logging in by OpenID Connect, with a provider of our own on loopback."""

from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import MakeStack
from tests.keys.accounts import browser, forget_accounts, give_group, make_account
from tests.keys.conftest import ASKS_FOR_KEYS
from tests.support.api import assert_problem
from tests.support.oidc import CLIENT_ID, CLIENT_SECRET, OidcProvider
from tests.support.stack import Stack

LOGIN = "/accounts/oidc/knowlex/login/?process=login"


@pytest.fixture(scope="session")
def _identity() -> Iterator[OidcProvider]:
    with OidcProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def _oidc_stack(make_module_stack: MakeStack, _identity: OidcProvider) -> Stack:
    stack = make_module_stack(
        workers=0,
        **ASKS_FOR_KEYS,
        KNOWLEX_OIDC_URL=_identity.url,
        KNOWLEX_OIDC_CLIENT_ID=CLIENT_ID,
        KNOWLEX_OIDC_CLIENT_SECRET=CLIENT_SECRET,
        KNOWLEX_OIDC_NAME="Our House",
        KNOWLEX_OIDC_GROUPS_CLAIM="roles",
    )
    stack.manage("migrate", "-v0")  # the template has not the tables of allauth
    return stack


@pytest.fixture
def identity(_identity: OidcProvider) -> OidcProvider:
    _identity.refuses = False
    _identity.person = {"sub": "1", "preferred_username": "ann", "email": "ann@example.org"}
    return _identity


@pytest.fixture
def house(_oidc_stack: Stack) -> Iterator[Stack]:
    _oidc_stack.ensure_running()
    _oidc_stack.clean()
    forget_accounts(_oidc_stack)
    yield _oidc_stack
    forget_accounts(_oidc_stack)


def log_in(house: Stack, path: str = LOGIN) -> tuple[httpx.Client, httpx.Response]:
    client = browser(house)
    return client, client.get(path, follow_redirects=True, headers={"Accept": "text/html"})


def collections(client: httpx.Client) -> list[str]:
    return [one["name"] for one in client.get("/v1/collections").json()["collections"]]


def test_the_log_in_page_offers_it_by_its_name(house: Stack):
    page = house.client.get("/login", params={"next": "/d/1?start=2&end=3"}).text

    assert "Log in with Our House" in page
    assert "next=%2Fd%2F1%3Fstart%3D2%26end%3D3" in page


def test_a_new_account_has_no_collections(house: Stack, identity: OidcProvider):
    client, reply = log_in(house)

    assert (reply.url.path, reply.status_code) == ("/", 200), reply.text
    assert 'data-user="ann"' in reply.text
    assert collections(client) == []
    assert_problem(client.post("/v1/collections", json={"name": "a"}), 403, "FORBIDDEN")
    assert house.count("auth_user", "is_staff OR is_superuser") == 0


def test_groups_are_those_of_the_claim_at_each_log_in(house: Stack, identity: OidcProvider):
    identity.person["roles"] = ["readers", "clerks"]
    log_in(house)
    give_group(house, "readers", "read", "default")

    client, _ = log_in(house)
    assert collections(client) == ["default"]
    identity.person["roles"] = ["clerks"]
    client, _ = log_in(house)

    assert collections(client) == []
    assert house.count("auth_user") == 1
    assert [row["name"] for row in house.sql("SELECT name FROM auth_group ORDER BY name")] == [
        "clerks",
        "readers",
    ]


@pytest.mark.parametrize("told", [None, "readers", ["readers", 7, None, "", "x" * 200, "a\0b"], {"a": 1}])
def test_strange_claims_are_read_as_far_as_they_can_be(house: Stack, identity: OidcProvider, told: object):
    identity.person["roles"] = told
    _, reply = log_in(house)

    assert 'data-user="ann"' in reply.text
    names = [row["name"] for row in house.sql("SELECT name FROM auth_group")]
    assert names == (["readers"] if "readers" in (told or "") else [])  # type: ignore[operator]


def test_nobody_becomes_an_account_of_the_same_name_or_address(house: Stack, identity: OidcProvider):
    """Neither the admin's, nor that of another subject."""
    make_account(house, "ann", superuser=True)
    house.sql("UPDATE auth_user SET email = 'ann@example.org'")

    client, reply = log_in(house)

    assert reply.url.path == "/"
    assert 'data-user="ann"' not in reply.text
    assert "data-user=" in reply.text
    assert collections(client) == []
    assert house.count("auth_user") == 2


def test_a_deactivated_account_stays_out(house: Stack, identity: OidcProvider):
    log_in(house)
    house.sql("UPDATE auth_user SET is_active = false")

    client, _ = log_in(house)

    assert client.get("/v1/collections").status_code == 401


def test_a_refusal_leads_back_to_the_log_in_page(house: Stack, identity: OidcProvider):
    identity.refuses = True
    client, reply = log_in(house)

    assert client.get("/v1/collections").status_code == 401
    assert reply.url.path in ("/login", "/accounts/3rdparty/login/cancelled/")


def test_a_provider_that_is_away_is_told(house: Stack):
    with house.another_web(KNOWLEX_OIDC_URL="http://127.0.0.1:1") as web:
        reply = web.get(LOGIN, follow_redirects=True)

    assert reply.url.path == "/login"
    assert "The log-in with Our House did not succeed." in reply.text


def test_an_answer_that_nobody_asked_for_logs_nobody_in(house: Stack, identity: OidcProvider):
    client = browser(house)
    reply = client.get(
        "/accounts/oidc/knowlex/login/callback/?code=stolen&state=made-up", follow_redirects=True
    )

    assert reply.url.path == "/login"
    assert "The log-in with Our House did not succeed." in reply.text
    assert "sessionid" not in client.cookies or client.get("/v1/collections").status_code == 401


@pytest.mark.parametrize(("target", "path"), [("/documents", "/documents"), ("https://other.example/", "/")])
def test_it_goes_on_to_our_own_pages_only(house: Stack, identity: OidcProvider, target: str, path: str):
    _, reply = log_in(house, f"{LOGIN}&next={target}")
    assert (reply.url.host, reply.url.path) == ("127.0.0.1", path)


def test_without_it_there_is_no_such_page(keyed: Stack):
    assert keyed.client.get(LOGIN).status_code == 404
    assert "OpenID" not in keyed.client.get("/login").text
