"""The external vector store that the settings name, and its registration in the database at each start."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from embeddings.models import DroppedSpace, OutboxEntry, OutsideStore
from embeddings.protocols import VectorStore
from embeddings.types import Space
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.components import component

EXTERNAL_STORES = {"embeddings.stores.chroma": "chroma", "embeddings.stores.qdrant": "qdrant"}
SAME_STORE = {"api_key", "timeout_s", "retry"}  # may change, as a login in the URL may


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """kind: chroma, qdrant. place: its address, and what its collections' names begin with; no secret.

    fingerprint: of all that says which store it is.
    """

    kind: str
    place: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}"


def configured_store() -> StoreIdentity | None:
    """Return None where vectors are searched in PostgreSQL, or in this process's memory."""
    part: dict[str, Any] = settings.KNOWLEX.get("VECTOR_STORE", {})
    kind = EXTERNAL_STORES.get(part.get("class", "").rpartition(".")[0])
    if kind is None:
        return None
    options = {name: str(value) for name, value in part.get("options", {}).items() if name not in SAME_STORE}
    options["url"] = without_login(options.get("url", ""))
    identity = json.dumps([kind, settings.VECTOR_STORE_COLLECTION, options], sort_keys=True)
    place = f"{options['url']}, collections {settings.VECTOR_STORE_COLLECTION}_…"
    return StoreIdentity(kind, place, hashlib.sha256(identity.encode()).hexdigest())


def is_external() -> bool:
    """Return whether vectors are searched outside PostgreSQL."""
    return "VECTOR_STORE" in settings.KNOWLEX


def store_name() -> str:
    """Return "qdrant", "chroma" or "memory"; "" where PostgreSQL itself is searched."""
    return str(settings.KNOWLEX["VECTOR_STORE"]["class"]).split(".")[-2] if is_external() else ""


def external_store() -> VectorStore:
    """Return the store; only where there is one in use."""
    return component("VECTOR_STORE", VectorStore)


def space_of(model_id: int, dimensions: int) -> Space:
    """Return where it keeps a model's vectors."""
    return Space(f"{settings.VECTOR_STORE_COLLECTION}_{model_id}", model_id, dimensions)


def without_login(url: str) -> str:
    scheme, separator, address = url.rpartition("://")
    return scheme + separator + address.rpartition("@")[2]


ROWS = 5000
# Whoever writes a vector looks for a store in use by a trigger: nobody may be at it while that changes.
_NO_WRITERS = "LOCK TABLE embeddings_embedding IN SHARE ROW EXCLUSIVE MODE"
_FILL = """
    WITH next AS (
        SELECT chunk_id, model_id FROM embeddings_embedding
        WHERE (chunk_id, model_id) > (%(chunk)s, %(model)s) ORDER BY chunk_id, model_id LIMIT %(rows)s
    ), added AS (
        INSERT INTO embeddings_outboxentry AS o (model_id, chunk_id, version, attempts, error, created_at)
        SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
        FROM next ORDER BY model_id, chunk_id ON CONFLICT DO NOTHING
    )
    SELECT chunk_id, model_id FROM next ORDER BY chunk_id DESC, model_id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class StoreChange:
    """What a start has changed. now: None where no such store is in use from now on.

    vectors: how many the new store is still to get.
    """

    before: str
    now: StoreIdentity | None
    vectors: int = 0

    def __str__(self) -> str:
        if self.now is None:
            place = "each process's memory" if is_external() else "PostgreSQL"
            return f"The vector store {self.before} is no longer used: vectors are searched in {place}."
        instead = f" instead of {self.before}" if self.before else ""
        message = f"Vectors are searched in {self.now} from now on{instead}."
        if not self.vectors:
            return message
        return f"{message} The workers send it {self.vectors} stored vectors (manage.py vector_store check)."


def register_store() -> StoreChange | None:
    """Take the configured store into use, or none; None if that is as it was. Raises DatabaseUnavailable.

    Everything of every model goes to a new store: the workers' sweep fills the outbox, and they ship it. What
    another one holds stays there; nobody looks at it any more.
    """
    used = configured_store()
    if with_retries(lambda: _is_in_use(used)):
        return None
    return with_retries(lambda: _register_store(used))


def fill_outbox() -> None:
    """Put all that is there into the outbox, some thousand a transaction, unless that is done already."""
    unfilled = OutsideStore.objects.filter(filled=False)
    if not with_retries(unfilled.exists):
        return
    scope = {"chunk": UUID(int=0), "model": 0, "rows": ROWS}
    while rows := with_retries(lambda: execute(_FILL, scope)):
        scope["chunk"], scope["model"] = rows[0]
    with_retries(lambda: unfilled.update(filled=True))


def _is_in_use(store: StoreIdentity | None) -> bool:
    row = OutsideStore.objects.first()
    return (row.fingerprint if row else None) == (store.fingerprint if store else None)


@transaction.atomic
def _register_store(used: StoreIdentity | None) -> StoreChange | None:
    execute(_NO_WRITERS)
    if _is_in_use(used):
        return None  # another process was faster
    before = OutsideStore.objects.first()
    for model in (OutsideStore, OutboxEntry, DroppedSpace):
        model.objects.all().delete()
    if used is not None:
        row = {"kind": used.kind, "place": used.place, "fingerprint": used.fingerprint}
        OutsideStore.objects.create(**row, since=timezone.now())
    vectors = execute("SELECT count(*) FROM embeddings_embedding")[0][0] if used else 0
    return StoreChange(str(before) if before else "", used, vectors)
