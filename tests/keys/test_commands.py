"""Keys by command: made, listed, revoked. In process, on the test database."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from documents import api_keys
from documents.models import ApiKey, Collection

pytestmark = pytest.mark.django_db(transaction=True)


def run(name: str, *words: str) -> tuple[str, str]:
    """(standard output, standard error)"""
    out, err = StringIO(), StringIO()
    call_command(name, *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_key_stands_alone_on_standard_output_and_nowhere_else() -> None:
    out, err = run("create_api_key", "laptop")

    assert re.fullmatch(r"kx_[a-z0-9]{8}_[A-Za-z0-9_-]{43}\n", out)
    key = ApiKey.objects.get()
    assert (key.name, key.scope, key.bound, key.expires_at) == ("laptop", "read", False, None)
    assert key.prefix == out[:11]
    assert key.hash == api_keys.hash_key(out.strip())
    assert "laptop" in err
    assert out.strip()[12:] not in err + str(vars(key))


def test_a_key_of_an_account_says_so() -> None:
    User.objects.create(username="ann")

    _, err = run("create_api_key", "laptop", "--user", "ann")

    assert ApiKey.objects.get().user == User.objects.get()
    assert "laptop of the account ann" in err
    assert "laptop (ann)" in run("list_api_keys")[0]
    with pytest.raises(CommandError, match="There is no account 'bob'"):
        run("create_api_key", "laptop", "--user", "bob")


def test_scope_collections_and_expiry_are_kept() -> None:
    law = Collection.objects.create(name="law")
    named = ("--collection", "law", "--collection", "default", "--collection", str(law.id))
    run("create_api_key", "bot", "--scope", "write", *named, "--expires", "90d")

    key = ApiKey.objects.get()
    assert (key.scope, key.bound_to) == ("write", "default, law")
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)


def test_a_ceiling_of_tokens_is_kept() -> None:
    run("create_api_key", "bot", "--daily-tokens", "5000")

    assert ApiKey.objects.get().daily_tokens == 5000


def test_a_date_is_the_last_day() -> None:
    run("create_api_key", "bot", "--expires", "2999-12-31")

    assert ApiKey.objects.get().expires_at == datetime(3000, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a", "--collection", "nowhere"], "no collection 'nowhere'"),
        (["a", "--collection", ""], "must not be empty"),
        (["a", "--expires", "tomorrow"], "--expires 'tomorrow'"),
        (["a", "--expires", "0d"], "--expires '0d'"),
        (["a", "--expires", "99999d"], "--expires '99999d'"),
        (["a", "--expires", "2020-01-01"], "expired already"),
        (["a", "--expires", "9999-12-31"], "--expires '9999-12-31'"),
        (["a", "--scope", "root"], "invalid choice: 'root'"),
        (["a", "--daily-tokens", "0"], "daily_tokens must be from 1"),
        (["  "], "name must have"),
        (["x" * 256], "name must have"),
        (["two\nlines"], "control characters"),
        ([], "required: name"),
    ],
)
def test_what_cannot_be_is_told_and_makes_no_key(words: list[str], told: str) -> None:
    with pytest.raises(CommandError, match=re.escape(told)):
        run("create_api_key", *words)
    assert not ApiKey.objects.exists()


def test_keys_are_listed_by_prefix_and_revoked(django_assert_num_queries: Any) -> None:
    law = Collection.objects.create(name="law")
    for name in ("one", "two"):
        api_keys.create_key(name=name, collections=[law])
    key, text = api_keys.create_key(name="three", scope="admin")

    with django_assert_num_queries(2):
        out, _ = run("list_api_keys")
    assert len(out.splitlines()) == 4
    assert re.search(rf"{key.prefix} +admin +valid +never +never +three +all", out)
    assert out.count("law") == 2
    assert text[12:] not in out
    assert key.hash not in out

    run("revoke_api_key", key.prefix)
    run("revoke_api_key", str(key.id))
    assert re.search(rf"{key.prefix} +admin +revoked", run("list_api_keys")[0])
    with pytest.raises(CommandError, match="No API key"):
        run("revoke_api_key", "kx_00000000")
