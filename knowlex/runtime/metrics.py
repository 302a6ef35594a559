"""What this process counts for Prometheus. Label values are those that the code knows, never from users."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.metrics import MetricWrapperBase

M = TypeVar("M", bound=MetricWrapperBase)

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def by_labels(metric: M) -> Callable[..., M]:
    """Return what counts these labels, as `metric.labels`, the last used kept: looking one up takes
    longer than counting.
    """
    found: Callable[..., M] = lru_cache(256)(metric.labels)
    return found


requests = Counter(
    "knowlex_requests", "HTTP requests answered.", ["method", "route", "status"], registry=REGISTRY
)
request_seconds = Histogram(
    "knowlex_request_seconds",
    "From a request's head to its response's head.",
    ["route"],
    buckets=SECONDS,
    registry=REGISTRY,
)
errors = Counter(
    "knowlex_errors", "Requests answered with an error, by its code.", ["code"], registry=REGISTRY
)
refused_questions = Counter(
    "knowlex_questions_refused", "Questions that were too many to be answered in time.", registry=REGISTRY
)
_requests_of, _request_seconds_of = by_labels(requests), by_labels(request_seconds)


def count_request(method: str | None, route: str, status: int, seconds: float) -> None:
    """route: the pattern, such as "/v1/documents/<str:document_id>"; "" for a path that is none."""
    method = method if method in METHODS else "other"
    _requests_of(method, route or "none", str(status)).inc()
    _request_seconds_of(route or "none").observe(seconds)


def count_error(code: str) -> None:
    errors.labels(code).inc()


def count_refused_question() -> None:
    refused_questions.inc()
