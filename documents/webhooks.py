"""Webhooks: addresses that are told when a job, a sync or an evaluation ends.

A message is a row, written in the transaction that records the end, so that neither a worker that is killed
nor a broker that is down loses it; workers send it (rag.tasks), and try again for three days. Signatures,
headers and pauses are those of https://www.standardwebhooks.com: a message may come twice, with one id.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import hmac
import ipaddress
import json
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from documents.access import Access
from documents.ingest.fetch_addresses import REFUSED, check_port, is_listed, is_public, parse_target
from documents.models import Webhook, WebhookDelivery
from knowlex.base.errors import Forbidden, InvalidInput, KnowlexError, NotFound
from knowlex.base.ids import new_id
from knowlex.base.times import utc_timestamp
from knowlex.db.leases import LeaseLost, LeaseQueue, change_leased
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.secrets import SecretLost, decrypt_secret, encrypt_secret
from knowlex.web.pagination import After, Page, paged

EVENTS = JOB_ENDED, SYNC_ENDED, EVALUATION_ENDED = "job.ended", "sync.ended", "evaluation.ended"
MAX_WEBHOOKS = 100
SHOWN_DELIVERIES = 20
KEPT_DAYS = 30
# Seconds after each failed try: the schedule of the specification's "Deliverability and reliability".
PAUSES_S = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
MAX_ATTEMPTS = len(PAUSES_S) + 1
MAX_JOBS = 100  # that are told of in one transaction
_PURPOSE = "webhooks"
_SECRET_PREFIX, _SECRET_BYTES = "whsec_", 32
_CLAIM_LOCK = 0x6B780104

DELIVERIES = LeaseQueue(
    table="documents_webhookdelivery",
    key=("id",),
    waiting="w.status = 'pending' AND w.due_at <= clock_timestamp()",
    lease_s=30,  # a try takes 10 at most
    max_attempts=MAX_ATTEMPTS,
    given_up="status = 'failed', ended_at = clock_timestamp(), error = %(error)s",
)
_GAVE_UP = f"Its worker ended during the last of {MAX_ATTEMPTS} tries."
# An address that is slow holds one worker, not all: its next message waits for the one under way.
_CLAIM = DELIVERIES.claim_sql(
    f"""
        SELECT w.id FROM documents_webhookdelivery w
        WHERE {DELIVERIES.free} AND NOT EXISTS (
            SELECT FROM documents_webhookdelivery o WHERE o.webhook_id = w.webhook_id AND o.id <> w.id
              AND o.status = 'pending' AND o.leased_until >= clock_timestamp())
        ORDER BY w.due_at, w.id LIMIT 1
    """,
    returning="w.id",
)
_RECORD = DELIVERIES.leased_sql(
    f"""
        status = %(status)s, response_status = %(response_status)s, error = %(error)s,
        due_at = clock_timestamp() + make_interval(secs => %(pause)s),
        ended_at = CASE WHEN %(status)s = 'pending' THEN NULL ELSE clock_timestamp() END,
        {DELIVERIES.release_columns}
    """,
    where="w.id = %(id)s",
)
_PUBLISH = """
    INSERT INTO documents_webhookdelivery
        (id, webhook_id, event, body, status, due_at, attempts, error, created_at)
    SELECT gen_random_uuid(), h.id, %(event)s, %(body)s, 'pending', clock_timestamp(), 0, '',
        clock_timestamp()
    FROM documents_webhook h WHERE %(event)s = ANY(h.events) FOR KEY SHARE
"""
_TELL_JOBS = """
    WITH ended AS MATERIALIZED (
        SELECT j.id FROM documents_ingestjob j
        WHERE j.told_at IS NULL AND NOT EXISTS (
            SELECT FROM documents_ingestitem i
            WHERE i.job_id = j.id AND i.status IN ('pending', 'processing'))
        ORDER BY j.created_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE documents_ingestjob j SET told_at = clock_timestamp()
    FROM ended, documents_collection c, LATERAL (
        SELECT count(*) AS total, count(*) FILTER (WHERE i.status = 'failed') AS failed,
            max(i.ended_at) AS completed_at
        FROM documents_ingestitem i WHERE i.job_id = ended.id
    ) t
    WHERE j.id = ended.id AND c.id = j.collection_id
    RETURNING j.id, c.id, c.name, t.total, t.failed, j.created_at, t.completed_at
"""


def create_webhook(*, access: Access, url: str, events: Sequence[str]) -> tuple[Webhook, str]:
    """Create a webhook; return it and its secret in clear, which nobody can ever read again.

    Raises Forbidden, InvalidInput naming the field.
    """
    _require_operator(access)
    _check_url(url)
    if with_retries(Webhook.objects.count) >= MAX_WEBHOOKS:
        raise InvalidInput(f"There may be at most {MAX_WEBHOOKS} webhooks.", field="url")
    secret = _SECRET_PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")
    webhook = Webhook(
        url=url.strip(),
        events=_check_events(events),
        secret=encrypt_secret(secret, purpose=_PURPOSE),
    )
    with_retries(lambda: webhook.save(force_insert=True))
    return webhook, secret


def list_webhooks(*, access: Access, page: Page) -> tuple[list[Webhook], After | None]:
    """Return one page. Raises Forbidden."""
    _require_operator(access)
    return with_retries(lambda: paged(Webhook.objects.all(), page))


def get_webhook(webhook_id: UUID, *, access: Access) -> Webhook:
    """Raises NotFound, Forbidden."""
    _require_operator(access)
    webhook = with_retries(Webhook.objects.filter(id=webhook_id).first)
    if webhook is None:
        raise NotFound(f"Webhook not found: {webhook_id}")
    return webhook


def list_deliveries(webhook: Webhook) -> list[WebhookDelivery]:
    """Return the last ones, newest first."""
    rows = WebhookDelivery.objects.filter(webhook=webhook).defer("body")
    return with_retries(lambda: list(rows.order_by("-created_at", "-id")[:SHOWN_DELIVERIES]))


def change_webhook(
    webhook_id: UUID, *, access: Access, url: str | None = None, events: Sequence[str] | None = None
) -> Webhook:
    """Change what is given; the secret stays. Raises NotFound, Forbidden, InvalidInput."""
    webhook = get_webhook(webhook_id, access=access)
    if url is not None:
        _check_url(url)
        webhook.url = url.strip()
    if events is not None:
        webhook.events = _check_events(events)
    changes = {"url": webhook.url, "events": webhook.events}
    if not with_retries(lambda: Webhook.objects.filter(id=webhook_id).update(**changes)):
        raise NotFound(f"Webhook not found: {webhook_id}")
    return webhook


def delete_webhook(webhook_id: UUID, *, access: Access) -> None:
    """Delete it with what was to be sent there. Raises NotFound, Forbidden."""
    _require_operator(access)
    delete = "DELETE FROM documents_webhook WHERE id = %s RETURNING 1"
    if not with_retries(lambda: execute(delete, [webhook_id])):  # which takes the deliveries along
        raise NotFound(f"Webhook not found: {webhook_id}")


def publish(event: str, data: Mapping[str, Any]) -> None:
    """Note the event for every webhook that wants it, in the caller's transaction.

    event: one of EVENTS. data: JSON types, UUIDs and times. Where nobody listens, nothing is written.
    """
    body = {"type": event, "timestamp": utc_timestamp(), "data": dict(data)}
    text = json.dumps(body, cls=DjangoJSONEncoder, separators=(",", ":"), ensure_ascii=False)
    execute(_PUBLISH, {"event": event, "body": text})


def publish_ended_jobs() -> None:
    """Note the end of jobs that have ended since this was called last. Safe to call in several workers."""
    while with_retries(_publish_some_jobs) == MAX_JOBS:
        pass


@transaction.atomic
def _publish_some_jobs() -> int:
    rows = execute(_TELL_JOBS, {"limit": MAX_JOBS})
    for job_id, collection_id, collection, total, failed, created_at, completed_at in rows:
        publish(
            JOB_ENDED,
            {
                "job_id": job_id,
                "status": "failed" if total and failed == total else "completed",
                "collection_id": collection_id,
                "collection": collection,
                "total": total,
                "failed": failed,
                "created_at": created_at,
                "completed_at": completed_at,
            },
        )
    return len(rows)


def deliver_next() -> bool:
    """Try the message that is due longest; tell whether there was one. Blocking, for workers.

    Raises DatabaseUnavailable; a message whose outcome could not be recorded is sent again.
    """
    lease = new_id()
    delivery = with_retries(lambda: _claim(lease))
    if delivery is None:
        return False
    status, error = _send(delivery)
    with suppress(LeaseLost):  # the webhook was deleted meanwhile
        with_retries(lambda: _record(delivery, lease, status, error))
    return True


def count_due() -> int:
    """Count the messages that are due and that nobody has in hand, up to MAX_WEBHOOKS."""
    return DELIVERIES.count_unheld(limit=MAX_WEBHOOKS)


def forget_old_deliveries() -> None:
    """Delete what was delivered, or given up, a month ago."""
    old = f"status <> 'pending' AND ended_at < now() - interval '{KEPT_DAYS} days'"
    with_retries(lambda: execute(f"DELETE FROM documents_webhookdelivery WHERE {old}"))


@transaction.atomic
def _claim(lease: UUID) -> WebhookDelivery | None:
    execute("SELECT pg_advisory_xact_lock(%s)", [_CLAIM_LOCK])
    DELIVERIES.give_up_hopeless({"error": _GAVE_UP})
    rows = execute(_CLAIM, {"lease": lease})
    return WebhookDelivery.objects.select_related("webhook").get(id=rows[0][0]) if rows else None


def _record(delivery: WebhookDelivery, lease: UUID, status: int | None, error: str) -> None:
    """Record how a try ended. Raises LeaseLost."""
    last = delivery.attempts >= MAX_ATTEMPTS
    values = {
        "id": delivery.id,
        "lease": lease,
        "status": "delivered" if not error else "failed" if last else "pending",
        "response_status": status,
        "error": error,
        "pause": 0 if last or not error else PAUSES_S[delivery.attempts - 1],
    }
    change_leased(_RECORD, values)


def _send(delivery: WebhookDelivery) -> tuple[int | None, str]:
    """Send a message; return the answer's status, if one came, and what went wrong, "" for nothing."""
    from documents.ingest.fetching import post  # not before the first message: it brings an HTTP client

    body = delivery.body.encode()
    try:
        secret = decrypt_secret(delivery.webhook.secret, purpose=_PURPOSE)
    except SecretLost:
        return None, "KNOWLEX_SECRET_KEY has changed since the webhook was made: delete it and make it anew."
    try:
        status = post(
            delivery.webhook.url,
            body,
            sign(body, message_id=str(delivery.id), secret=secret, at=int(time.time())),
            allowed_hosts=settings.URL_ALLOWED_HOSTS,
        )
    except KnowlexError as exc:
        return None, exc.message
    return status, "" if 200 <= status < 300 else f"The address answered {status}."


def sign(body: bytes, *, message_id: str, secret: str, at: int) -> dict[str, str]:
    """Return the headers that tell whence a message comes, and when. at: seconds since 1970.

    https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Signature
    scheme": HMAC-SHA256 over id, timestamp and body.
    """
    signed = f"{message_id}.{at}.".encode() + body
    digest = hmac.digest(b64decode(secret.removeprefix(_SECRET_PREFIX)), signed, "sha256")
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(digest).decode('ascii')}",
    }


def _require_operator(access: Access) -> None:
    if access.collection_ids is not None:
        raise Forbidden(
            "Webhooks hear of all collections: this needs an admin key that is not bound to some."
        )
    access.require("admin")


def _check_url(url: str) -> None:
    """Refuse what would be refused with every message; names are resolved only then. Raises InvalidInput."""
    target = parse_target(url)
    listed = is_listed(target, settings.URL_ALLOWED_HOSTS)
    check_port(target, listed=listed)
    with suppress(ValueError):  # a name
        ipaddress.ip_address(target.host)
        if not listed and not is_public(target.host):
            raise InvalidInput(REFUSED, field="url")


def _check_events(events: Sequence[str]) -> list[str]:
    wanted = [event for event in EVENTS if event in events]
    if not wanted or set(events) - set(EVENTS):
        raise InvalidInput(f"events must name some of {', '.join(EVENTS)}.", field="events")
    return wanted
