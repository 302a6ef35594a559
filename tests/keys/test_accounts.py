"""Logging in, what a cookie is good for, and what protects it."""

import re

import httpx
import pytest

from tests.conftest import MakeStack
from tests.keys.accounts import (
    OWN_PAGE,
    PASSWORD,
    browser,
    log_in,
    make_account,
    token_of,
    try_to_log_in,
)
from tests.keys.key_factory import as_key, make_key
from tests.support.api import assert_problem
from tests.support.stack import Stack
from tests.support.waiting import wait_until

HTML = {"Accept": "text/html"}
NOTICED_S = 5


def create(client: httpx.Client, name: str, **headers: str) -> httpx.Response:
    return client.post("/v1/collections", json={"name": name}, headers=headers)


def test_the_page_leads_to_the_log_in_and_knows_who_is_there(house: Stack):
    make_account(house, "ann")
    client = browser(house)
    before = client.get("/", headers=HTML).text

    assert try_to_log_in(client, "ann").headers["Location"] == "/"
    after = client.get("/", headers=HTML).text

    assert 'data-login="/login"' in before
    assert "data-user" not in before
    assert 'data-user="ann"' in after
    assert "data-manages" not in after


def test_staff_is_shown_the_way_to_the_admin(house: Stack):
    make_account(house, "root", superuser=True)
    assert "data-manages" in log_in(house, "root").get("/", headers=HTML).text


def test_a_session_serves_the_api_as_a_key_does(house: Stack):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")

    assert create(client, "made by a session").status_code == 201
    assert client.get("/v1/collections").status_code == 200
    assert client.get("/metrics").status_code == 200
    assert_problem(browser(house).get("/v1/collections"), 401, "UNAUTHORIZED")


def test_a_key_goes_before_a_cookie(house: Stack):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")
    reader = {"Authorization": f"Bearer {make_key(house, 'read')}"}

    assert_problem(create(client, "no", **reader), 403, "FORBIDDEN")
    assert_problem(client.get("/v1/collections", headers={"X-API-Key": "wrong"}), 401, "UNAUTHORIZED")


def test_after_the_log_out_the_cookie_is_worth_nothing(house: Stack):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")
    kept = {"Cookie": f"sessionid={client.cookies['sessionid']}"}
    assert client.get("/v1/collections").status_code == 200

    assert client.post("/logout").status_code == 204

    assert_problem(house.client.get("/v1/collections", headers=kept), 401, "UNAUTHORIZED")
    assert "data-user" not in client.get("/", headers=HTML).text


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}])
def test_nobody_elses_page_logs_out(house: Stack, headers: dict[str, str]):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")

    assert_problem(client.post("/logout", headers=headers), 403, "FORBIDDEN")
    assert client.get("/v1/collections").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE auth_user SET is_active = false",
        "UPDATE auth_user SET password = 'pbkdf2_sha256$1$other$AAAA'",
        "DELETE FROM django_session",
        "UPDATE django_session SET expire_date = now() - interval '1 second'",
    ],
)
def test_what_ends_a_session_is_noticed_within_seconds(house: Stack, change: str):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")
    assert client.get("/v1/collections").status_code == 200

    house.sql(change)

    wait_until(lambda: client.get("/v1/collections").status_code == 401, NOTICED_S, "the refusal")


def test_a_cookie_that_nobody_gave_opens_nothing(house: Stack):
    make_account(house, "root", superuser=True)
    for value in ("", "a" * 32, "../../etc/passwd", "x" * 5000, "' OR 1=1 --", "\x80"):
        reply = house.client.get("/v1/collections", headers=[(b"Cookie", f"sessionid={value}".encode())])
        assert_problem(reply, 401, "UNAUTHORIZED")


# Pages of other sites


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "new-word"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "{url}"}, 403),
        ({"Origin": "{url}"}, 201),
        ({"Referer": "{url}/documents"}, 201),
        ({"Origin": "https://other.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "null", "Referer": "{url}/"}, 403),
        ({"Origin": "{url}.other.example"}, 403),
        ({"Referer": "https://other.example/{url}/"}, 403),
        ({"Authorization": "Basic YTpi", "Sec-Fetch-Site": "cross-site"}, 403),
        ({}, 403),
    ],
)
def test_a_write_by_cookie_must_come_from_a_page_of_our_own(
    house: Stack, headers: dict[str, str], status: int
):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")
    del client.headers["Sec-Fetch-Site"]

    reply = create(client, "new", **{name: value.format(url=house.url) for name, value in headers.items()})

    assert reply.status_code == status, reply.text
    assert house.count("documents_collection", "name = 'new'") == (status == 201)


def cookies_of(reply: httpx.Response) -> dict[str, str]:
    """As a browser that speaks HTTPS to the proxy sends them; the client here would not, over plain HTTP."""
    return {"Cookie": "; ".join(given.split(";")[0] for given in reply.headers.get_list("Set-Cookie"))}


def test_a_key_writes_from_wherever_it_is_sent(house: Stack):
    client = as_key(house, make_key(house))
    assert create(
        client, "by key", **{"Sec-Fetch-Site": "cross-site", "Origin": "https://o.example"}
    ).is_success


def test_behind_https_a_page_over_http_is_another_one(house: Stack):
    make_account(house, "root", superuser=True)
    with house.another_web(KNOWLEX_TRUSTED_PROXIES="1") as web:
        plain = str(web.base_url).rstrip("/")
        https = {"X-Forwarded-Proto": "https", "Origin": plain.replace("http", "https")}
        page = web.get("/login", headers=https)
        form = {"csrfmiddlewaretoken": token_of(page), "username": "root", "password": PASSWORD}
        login = web.post("/login", data=form, headers={**https, **cookies_of(page)})
        session = cookies_of(login)

        insecure = create(web, "a", **{**https, "Origin": plain, **session})
        secure = create(web, "b", **https, **session)

    assert login.status_code == 302, login.text
    given = page.headers.get_list("Set-Cookie") + login.headers.get_list("Set-Cookie")
    assert all("; secure" in cookie.lower() and "; httponly" in cookie.lower() for cookie in given), given
    assert (insecure.status_code, secure.status_code) == (403, 201)
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_the_cookie_is_for_our_pages_only(house: Stack):
    make_account(house, "root", superuser=True)
    client = browser(house)
    cookies = try_to_log_in(client, "root").headers.get_list("Set-Cookie")
    (session,) = [cookie for cookie in cookies if cookie.startswith("sessionid=")]

    assert re.search("; HttpOnly(;|$)", session)
    assert re.search("; SameSite=Lax(;|$)", session)
    assert "Secure" not in session  # over plain HTTP it would not come back


def test_another_sites_scripts_cannot_read_what_a_cookie_opens(house: Stack):
    """Without these headers a browser keeps the answer from them, and `no-store` from whoever comes next."""
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")
    foreign = {"Origin": "https://other.example", "Sec-Fetch-Site": "cross-site"}
    asked = {"Access-Control-Request-Method": "GET", **foreign}

    for reply in (
        client.get("/v1/collections", headers=foreign),
        client.options("/v1/collections", headers=asked),
        client.get("/", headers={**foreign, **HTML}),
    ):
        assert not [name for name in reply.headers if name.startswith("access-control-")]
    read = client.get("/v1/collections", headers=foreign)
    assert read.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert read.headers["Cache-Control"] == "no-store"


# The log-in page


def test_the_log_in_page_needs_no_script_and_allows_none(house: Stack):
    reply = house.client.get("/login")

    assert reply.status_code == 200
    assert "<script" not in reply.text
    assert "script-src" not in reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert "Passwort" not in reply.text
    assert "Passwort" in house.client.get("/login", headers={"Accept-Language": "de"}).text
    assert "Passwort" not in house.client.get("/login").text


def test_a_form_without_its_token_is_refused(house: Stack):
    make_account(house, "ann")
    client = browser(house)
    client.get("/login")

    reply = client.post("/login", data={"username": "ann", "password": PASSWORD})

    assert reply.status_code == 403
    assert "sessionid" not in client.cookies


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/d/1?start=2&end=3", "/d/1?start=2&end=3"),
        ("https://other.example/", "/"),
        ("//other.example/", "/"),
        ("/\\other.example/", "/"),
        ("///other.example", "/"),
        ("javascript:alert(1)", "/"),
        ("http:///other.example", "/"),
        ("documents", "/"),
    ],
)
def test_after_the_log_in_it_goes_on_to_our_own_pages_only(house: Stack, target: str, location: str):
    make_account(house, "ann")
    client = browser(house)
    page = client.get("/login", params={"next": target})
    form = {"csrfmiddlewaretoken": token_of(page), "username": "ann", "password": PASSWORD, "next": target}

    reply = client.post("/login", data=form)

    assert (reply.status_code, reply.headers["Location"]) == (302, location)


def test_a_wrong_password_is_told_and_names_are_not_given_away(house: Stack):
    make_account(house, "ann")
    known = try_to_log_in(browser(house), "ann", "wrong")
    unknown = try_to_log_in(browser(house), "nobody", "wrong")

    assert (known.status_code, unknown.status_code) == (200, 200)
    told = [re.findall('role="alert"[^>]*>(.*?)</div>', reply.text, re.DOTALL) for reply in (known, unknown)]
    assert told[0]
    assert told[0] == told[1]


def test_a_deactivated_account_does_not_get_in(house: Stack):
    make_account(house, "ann")
    house.sql("UPDATE auth_user SET is_active = false")
    assert try_to_log_in(browser(house), "ann").status_code == 200


@pytest.mark.parametrize("path", ["/login", "/admin/login/"])
def test_after_five_wrong_passwords_the_right_one_must_wait(house: Stack, path: str):
    make_account(house, "root", superuser=True)
    client = browser(house)
    token = token_of(client.get(path))
    form = {"csrfmiddlewaretoken": token, "username": "root", "password": "wrong"}

    for _ in range(5):
        assert "Too many attempts" not in client.post(path, data=form).text
    refused = client.post(path, data=form | {"password": PASSWORD})

    assert refused.status_code == 200
    assert "Too many attempts to log in. Try again in 5 min." in refused.text


def test_a_stranger_keeps_no_one_out(house: Stack):
    """The account's own browser gets in, from the same address even; and so do other accounts."""
    make_account(house, "ann")
    make_account(house, "bob")
    own = log_in(house, "ann")
    own.post("/logout")
    stranger = browser(house)
    for _ in range(6):
        refused = try_to_log_in(stranger, "ann", "wrong")
    assert "Too many attempts" in refused.text

    assert try_to_log_in(own, "ann").status_code == 302
    assert try_to_log_in(browser(house), "bob").status_code == 302
    assert "Too many attempts" in try_to_log_in(browser(house), "ann").text


def test_a_known_browser_is_no_way_to_guess(house: Stack):
    make_account(house, "ann")
    own = log_in(house, "ann")
    own.post("/logout")
    for _ in range(10):
        assert "Too many attempts" not in try_to_log_in(own, "ann", "wrong").text
    assert "Too many attempts" in try_to_log_in(own, "ann").text


def test_an_address_that_tries_many_names_must_wait(house: Stack):
    stranger = browser(house)
    for number in range(30):
        assert "Too many attempts" not in try_to_log_in(stranger, f"name{number}", "wrong").text
    assert "Too many attempts" in try_to_log_in(stranger, "another", "wrong").text


def test_log_ins_that_succeed_are_not_counted(house: Stack):
    make_account(house, "ann")
    for _ in range(7):
        assert try_to_log_in(browser(house), "ann").status_code == 302


def test_attempts_are_counted_without_valkey_too(house: Stack):
    make_account(house, "ann")
    with house.another_web(REDIS_URL="redis://127.0.0.1:1/0") as web:
        web.headers.update(OWN_PAGE)
        for _ in range(5):
            assert "Too many attempts" not in try_to_log_in(web, "ann", "wrong").text
        assert "Too many attempts" in try_to_log_in(web, "ann").text


def test_without_keys_nobody_logs_in(make_stack: MakeStack):
    stack = make_stack(workers=0)
    page = stack.client.get("/", headers=HTML).text

    assert "data-login" not in page
    assert "data-user" not in page
    assert "data-manages" in page
    assert stack.client.get("/login").headers["Location"] == "/"
    assert create(stack.client, "by a program").status_code == 201
    assert_problem(create(stack.client, "by a page", Origin="https://other.example"), 403, "FORBIDDEN")
