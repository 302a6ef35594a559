"""GET /health and GET /metrics: whether Knowlex works, and how much it does."""

from datetime import datetime
from typing import Annotated, Literal

from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import Field

from documents.access import access_of
from knowlex.base.errors import Forbidden
from knowlex.runtime.metrics import collect_counts
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import allow, json_response
from knowlex.web.shapes import Number, OutputShape, Time
from rag.health import health_check
from rag.metrics import collect_state

Connection = Literal["connected", "unreachable"]


class VectorIndex(OutputShape):
    """Null while the database cannot be reached. Without an index only `kind` and `searches` are there."""

    kind: Literal["none", "ivfflat", "hnsw"]
    searches: Literal["exact", "index"]
    storage: Literal["vector", "halfvec"] = "vector"
    rows: Annotated[int, Field(description="When it was built.")] = 0
    effort: Annotated[int, Field(description="Probes, or ef_search.")] = 0
    recall: Annotated[Number | None, Field(description="recall@10 against exact search.")] = None
    measured_at: datetime | None = None


class PartHealth(OutputShape):
    state: Literal["starting", "running", "waiting"]
    restarts: Annotated[int, Field(description="How often it was started again.")]
    last_end: Annotated[str, Field(description="How it ended, such as `was killed by SIGKILL`.")]
    last_end_at: Annotated[str, Field(description="When, in UTC; empty if it never ended.")]


class Health(OutputShape):
    status: Literal["healthy", "degraded", "unhealthy"]
    ollama: Literal["connected", "unreachable", "not_configured"]
    vector_store: Connection
    embedding_model: Literal["loaded", "not_loaded"]
    timestamp: Time
    chat_model: Annotated[
        Literal["connected", "unreachable", "not_loaded", "not_configured"],
        Field(description="`not_loaded`: Ollama answers, but the model was not pulled."),
    ]
    database: Connection
    broker: Connection
    vector_index: VectorIndex | None
    database_writes: Annotated[
        Literal["accepted", "refused", "no_room", "unreachable"],
        Field(description="`refused`: it is a replica, or set to read only. `no_room`: its disk is full."),
    ]
    files: Annotated[
        Literal["writable", "full", "read_only", "missing", "refused", "unreachable"],
        Field(
            description="The folder or bucket of files. `full`: less room than the largest upload takes. "
            "`refused`: the bucket does not take the key, or belongs to another Knowlex."
        ),
    ]
    workers: Annotated[int, Field(description="Worker processes that are alive.")]
    reranker: Annotated[
        Literal["connected", "loaded", "unreachable", "not_loaded", "resting"],
        Field(description="Only where a model reranks; `resting` after it was too slow or failed."),
    ] = "connected"
    daily_tokens: Annotated[
        Literal["left", "spent"],
        Field(
            description="Only with KNOWLEX_DAILY_TOKENS. `spent`: until midnight UTC no chat model is asked, "
            "and what an embedder of OpenAI's API is to embed waits."
        ),
    ] = "left"
    parts: Annotated[
        dict[str, PartHealth],
        Field(
            description="Only under `manage.py up`: `database` and `broker` where embedded, `workers`, "
            "`web-0` …; each is started again when it ends."
        ),
    ] = {}


@allow("GET")
@operation(
    "health",
    "Whether Knowlex and what it stands on can work",
    answer(200, "Healthy or degraded", Health),
    answer(503, "Unhealthy", Health),
    tag="operating",
)
async def health(request: HttpRequest) -> HttpResponse:
    """Return the Service's `health_check()`: 200 when healthy or degraded, 503 when unhealthy."""
    body = await health_check()
    response = json_response(body, 503 if body["status"] == "unhealthy" else 200)
    response["Cache-Control"] = "no-store"
    return response


@allow("GET")
@operation(
    "metrics",
    "Counters and gauges for Prometheus",
    answer(200, "Prometheus' text format", {"text/plain": {"schema": {"type": "string"}}}),
    tag="operating",
)
async def metrics(request: HttpRequest) -> HttpResponse:
    """Return what the web processes of this address counted since they started, and how things stand now.

    All is of the whole installation: an API key that is bound to collections gets 403.
    """
    if access_of(request).collection_ids is not None:
        raise Forbidden("Metrics are of all collections; you may use only some.")
    text = generate_latest(collect_counts()) + generate_latest(await collect_state())
    response = HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
    response["Cache-Control"] = "no-store"
    return response
