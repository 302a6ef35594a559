"""Requests are counted by key; wrong keys by address, and they do not cost a query each."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable

import pytest

from documents import api_keys, authentication
from documents.access.scopes import FULL
from documents.api_keys import LiveKey
from documents.authentication import KeyCache
from knowlex.base.errors import DatabaseUnavailable, Unauthorized
from tests.keys.making import as_key, make_key
from tests.support.stack import Stack

DOCUMENTS = "/api/v1/documents"


def wrong_key() -> str:
    return f"kx_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"


def test_each_key_has_a_limit_of_its_own_and_wrong_ones_share_the_addresss(
    make_stack: Callable[..., Stack],
) -> None:
    stack = make_stack(KNOWLEX_REQUIRE_API_KEY="true", KNOWLEX_RATE_LIMIT="6/hour", workers=0)
    first, second = as_key(stack, make_key(stack)), as_key(stack, make_key(stack))

    told = [first.get(DOCUMENTS) for _ in range(7)]

    assert [reply.status_code for reply in told] == [200] * 6 + [429]
    assert [int(reply.headers["X-RateLimit-Remaining"]) for reply in told] == [5, 4, 3, 2, 1, 0, 0]
    assert {reply.headers["X-RateLimit-Limit"] for reply in told} == {"6"}
    assert 0 < int(told[-1].headers["X-RateLimit-Reset"]) <= 3600
    assert 0 < int(told[-1].headers["Retry-After"]) <= 3600
    assert second.get(DOCUMENTS).status_code == 200
    statuses = [as_key(stack, wrong_key()).get(DOCUMENTS).status_code for _ in range(10)]
    assert statuses[-1] == 429
    assert set(statuses) == {401, 429}
    assert second.get(DOCUMENTS).status_code == 200

    assert stack.broker is not None
    stack.stop_broker()
    away = [second.get(DOCUMENTS).status_code for _ in range(12)]
    assert away[:4] == [200] * 4, "the local count begins anew"
    assert away[-1] == 429


class Database:
    """Stands for `keys.live_keys`: keeps what each statement asked for; one key is right."""

    def __init__(self) -> None:
        self.statements: list[list[str]] = []
        self.right = wrong_key()

    async def live_keys(self, prefixes: list[str]) -> dict[str, LiveKey]:
        self.statements.append(prefixes)
        await asyncio.sleep(0)
        right = LiveKey(api_keys.hash_key(self.right), FULL, unnoted=False)
        return {prefix: right for prefix in prefixes if prefix == self.right[:11]}


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    fake = Database()
    monkeypatch.setattr(api_keys, "live_keys", fake.live_keys)
    return fake


async def answer(door: KeyCache, key: str, address: str = "10.0.0.1") -> bool:
    try:
        return (await door.key_of(key, address)).access == FULL
    except Unauthorized:
        return False


def answers(door: KeyCache, sent: list[str]) -> list[bool]:
    """One after the other."""

    async def each() -> list[bool]:
        return [await answer(door, key) for key in sent]

    return asyncio.run(each())


def test_a_wrong_key_is_looked_up_once_in_some_seconds(database: Database) -> None:
    now = [100.0]
    door, key = KeyCache(clock=lambda: now[0]), wrong_key()

    assert answers(door, [key] * 50) == [False] * 50
    assert database.statements == [[key[:11]]]

    now[0] += authentication.WRONG_S + 0.1
    answers(door, [key] * 50)
    assert len(database.statements) == 2


@pytest.mark.parametrize(
    "text",
    ["", "kx_", "x" * 10_000, "kx_abcdefgh_short", f"KX_abcdefgh_{'x' * 43}", f"kx_abcdefgh_{'é' * 43}"],
)
def test_a_malformed_key_is_never_looked_up(database: Database, text: str) -> None:
    assert answers(KeyCache(), [text]) == [False]
    assert database.statements == []


def test_a_crowd_shares_its_statements(database: Database) -> None:
    sent = [wrong_key() for _ in range(500)] + [database.right] * 20

    async def crowd() -> list[bool]:
        door = KeyCache()
        return await asyncio.gather(*(answer(door, key) for key in sent))

    assert asyncio.run(crowd()) == [False] * 500 + [True] * 20
    assert len(database.statements) <= 3


def test_who_guesses_is_slowed_down_and_nobody_is_locked_out(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.extend([seconds] if seconds else [])

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(authentication, "GUESSES", 20)
    door = KeyCache()
    known = database.right

    assert answers(door, [known, *(wrong_key() for _ in range(30)), known]) == [True] + [False] * 30 + [True]
    assert waits == [authentication.PACE_S] * 10
    database.right = wrong_key()
    assert answers(door, [database.right]) == [True]
    assert len(waits) == 11
    assert not asyncio.run(answer(door, wrong_key(), address="10.0.0.2"))
    assert len(waits) == 11


def test_a_database_that_fails_or_hangs_lets_nobody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(prefixes: list[str]) -> dict[str, LiveKey]:
        raise DatabaseUnavailable("The database cannot be reached.")

    async def hangs(prefixes: list[str]) -> dict[str, LiveKey]:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(authentication, "LIMIT_S", 0.1)
    for broken in (fails, hangs):
        monkeypatch.setattr(api_keys, "live_keys", broken)
        with pytest.raises(DatabaseUnavailable):
            answers(KeyCache(), [wrong_key()])


def test_what_is_remembered_is_bounded_and_holds_no_key(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED", 50)
    monkeypatch.setattr(authentication, "GUESSES", 10_000)
    door, sent = KeyCache(), [wrong_key() for _ in range(200)]

    answers(door, sent)

    remembered = door._wrong._until
    assert len(remembered) == 50
    assert hashlib.sha256(sent[-1].encode()).hexdigest() in remembered
    assert not set(sent) & set(remembered)


def test_a_key_that_was_right_is_looked_up_each_time(database: Database) -> None:
    answers(KeyCache(), [database.right] * 3)

    assert len(database.statements) == 3
