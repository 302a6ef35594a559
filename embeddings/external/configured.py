"""The vector store outside PostgreSQL that the settings name, if it is one that others keep."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from embeddings.protocols import VectorStore
from embeddings.types import Space
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
    """None where vectors are searched in PostgreSQL, or in this process's memory."""
    part: dict[str, Any] = settings.KNOWLEX.get("VECTOR_STORE", {})
    kind = EXTERNAL_STORES.get(part.get("class", "").rpartition(".")[0])
    if kind is None:
        return None
    options = {name: str(value) for name, value in part.get("options", {}).items() if name not in SAME_STORE}
    options["url"] = without_login(options.get("url", ""))
    told = json.dumps([kind, settings.VECTOR_STORE_COLLECTION, options], sort_keys=True)
    place = f"{options['url']}, collections {settings.VECTOR_STORE_COLLECTION}_…"
    return StoreIdentity(kind, place, hashlib.sha256(told.encode()).hexdigest())


def describe_place_without_store() -> str:
    """Where vectors are searched while `in_use` is None."""
    return "each process's memory" if "VECTOR_STORE" in settings.KNOWLEX else "PostgreSQL"


def external_store() -> VectorStore:
    """Only where there is one in use."""
    return component("VECTOR_STORE", VectorStore)


def space_of(model_id: int, dimensions: int) -> Space:
    """Where it keeps a model's vectors."""
    return Space(f"{settings.VECTOR_STORE_COLLECTION}_{model_id}", model_id, dimensions)


def without_login(url: str) -> str:
    scheme, _, rest = url.rpartition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if scheme else rest.rpartition("@")[2]
