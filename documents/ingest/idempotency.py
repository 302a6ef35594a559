"""Idempotent requests: the same key and request get the first reply again.

A record is claimed before the work, completed with the reply (for jobs in the work's own transaction), and
removed when the work fails. A claim ends by itself: a server that died in between leaves no trap.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from documents.access import Access
from knowlex.base.errors import Conflict, DatabaseUnavailable, InvalidInput, KeyReused
from knowlex.db.threads import execute, with_retries

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
MAX_KEY_CHARS = 255
KEPT_HOURS = 24
RETRY_AFTER_S = 2

_CLAIM = """
    INSERT INTO documents_idempotencyrecord AS r (scope, key, fingerprint, created_at, locked_until)
    VALUES (%(scope)s, %(key)s, %(fingerprint)s, now(), clock_timestamp() + make_interval(secs => %(lock)s))
    ON CONFLICT (scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = NULL, body = NULL,
        locked_until = excluded.locked_until,
        created_at = CASE WHEN r.created_at < now() - make_interval(hours => %(kept)s) THEN now()
            ELSE r.created_at END
    WHERE r.created_at < now() - make_interval(hours => %(kept)s)
        OR (r.status IS NULL AND r.locked_until < clock_timestamp() AND r.fingerprint = excluded.fingerprint)
    RETURNING id, created_at, locked_until, xmax <> 0
"""
_READ = """
    SELECT fingerprint, status, body FROM documents_idempotencyrecord
    WHERE scope = %(scope)s AND key = %(key)s
"""
_COMPLETE = """
    UPDATE documents_idempotencyrecord SET status = %s, body = %s, locked_until = NULL
    WHERE id = %s AND locked_until = %s AND status IS NULL RETURNING id
"""
_RELEASE = "DELETE FROM documents_idempotencyrecord WHERE id = %s AND locked_until = %s RETURNING id"
_FORGET = """
    DELETE FROM documents_idempotencyrecord WHERE created_at < now() - make_interval(hours => %s) RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that can be sent again. body: JSON types, UUIDs and times. replayed: it was sent before."""

    status: int
    body: Any
    location: str = ""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do the work until `locked_until`. since: when the request first came.

    taken_over: somebody had it before, and has not replied.
    """

    id: int
    since: datetime
    locked_until: datetime
    taken_over: bool

    def may_have_made(self, created_at: datetime) -> bool:
        """Tell if the earlier holder of this claim, who died before it could reply, made what is there."""
        return self.taken_over and created_at >= self.since

    def complete(self, reply: Reply) -> None:
        """Store the reply. Raises Conflict if the claim ended meanwhile and another request took it over."""
        stored = json.dumps({"body": reply.body, "location": reply.location}, cls=DjangoJSONEncoder)
        if not execute(_COMPLETE, [reply.status, stored, self.id, self.locked_until]):
            raise _conflict_error()


def checked_key(key: str | None) -> str | None:
    """Return the header's value if it is valid; None without the header. Raises InvalidInput."""
    if key is None:
        return None
    if not 0 < len(key) <= MAX_KEY_CHARS or not all("!" <= char <= "~" for char in key):
        rule = f"must be 1 to {MAX_KEY_CHARS} visible ASCII characters"
        raise InvalidInput(f"Idempotency-Key {rule}.", field=KEY_HEADER)
    return key


def fingerprint(*parts: Any) -> str:
    """Return the SHA-256 of a request, hex. The order of keys in an object does not matter."""
    text = json.dumps(parts, sort_keys=True, cls=DjangoJSONEncoder)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def answer_once(
    key: str | None,
    work: Callable[[Claim | None], Reply],
    *,
    access: Access,
    asked: str,
    lock_s: float,
    in_transaction: bool,
) -> Reply:
    """Return `work`'s reply, or the stored one of the same request; without a key, simply `work`'s.

    asked: the request's fingerprint. lock_s: longer than the work takes. in_transaction: work and record are
    committed together. Only successes are stored: after an exception the request may be tried again.
    Raises KeyReused (the key was used for another request), Conflict (the first is still under way).
    """
    if key is None:
        return work(None)
    names = {"scope": _scope_of(access), "key": key, "fingerprint": asked}
    claim = with_retries(lambda: _try_claim({**names, "lock": lock_s, "kept": KEPT_HOURS}))
    if claim is None:
        return _replay(names)
    try:
        return _work_and_complete(claim, work, in_transaction)
    except BaseException:
        with suppress(DatabaseUnavailable):  # then the claim ends by itself
            with_retries(lambda: execute(_RELEASE, [claim.id, claim.locked_until]))
        raise


def _scope_of(access: Access) -> str:
    """Return whose keys these are: each API key and each account has its own."""
    if access.key_id is None and access.user_id is not None:
        return f"account:{access.user_id}"
    return str(access.key_id or "")


def forget_expired() -> int:
    """Delete expired records; return how many."""
    return len(with_retries(lambda: execute(_FORGET, [KEPT_HOURS])))


def _work_and_complete(claim: Claim, work: Callable[[Claim | None], Reply], in_transaction: bool) -> Reply:
    if not in_transaction:
        reply = work(claim)
        with_retries(lambda: claim.complete(reply))
        return reply
    with transaction.atomic():
        reply = work(claim)
        claim.complete(reply)
    return reply


def _try_claim(values: dict[str, Any]) -> Claim | None:
    rows = execute(_CLAIM, values)
    return Claim(*rows[0]) if rows else None


def _replay(names: dict[str, str]) -> Reply:
    rows = with_retries(lambda: execute(_READ, names))
    if not rows:  # the first has just failed
        raise _conflict_error()
    stored_fingerprint, status, stored = rows[0]
    if stored_fingerprint != names["fingerprint"]:
        raise KeyReused("This Idempotency-Key was used for another request.", details={"field": KEY_HEADER})
    if status is None:
        raise _conflict_error()
    answer = json.loads(stored)
    return Reply(status, answer["body"], answer["location"], replayed=True)


def _conflict_error() -> Conflict:
    return Conflict("The first request with this Idempotency-Key is under way.", retry_after_s=RETRY_AFTER_S)
