"""What this process counts for Prometheus. Label values are those that the code knows, never from users.

Several web processes on one socket count together: each has the counts of its number in a file that the
others read (prometheus_client's multiprocess mode). Started again it goes on with them. The folder is named
after the process that started them all, so that nothing is left of an earlier start.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, Self, TypeVar

import psutil
from django.conf import settings
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    values,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

M = TypeVar("M", bound=MetricWrapperBase)


def _share_counts(folder: Path, number: str) -> None:
    """Keep what is counted from now on in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.pid").write_text(str(os.getpid()))
    for other in folder.parent.iterdir():
        if not (other.name.isdigit() and psutil.pid_exists(int(other.name))):
            shutil.rmtree(other, ignore_errors=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]


_SHARED: Final[Path | None] = settings.COUNTS_DIR / str(os.getppid()) if settings.WEB_PROCESS else None
if _SHARED is not None:
    _share_counts(_SHARED, settings.WEB_PROCESS)
REGISTRY: Final = CollectorRegistry()


def collect_counts() -> CollectorRegistry:
    """Return what was counted by all web processes together, with what they take of the machine."""
    if _SHARED is None:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(_SHARED))  # type: ignore[no-untyped-call]
    registry.register(_PROCESSES)
    PlatformCollector(registry=registry)
    return registry


class _WebProcesses(Collector):
    """prometheus_client's figures of a process, summed over those that serve; of two starts the later one."""

    def collect(self) -> Iterator[Metric]:
        pids = [os.getpid()] if _SHARED is None else [int(file.read_text()) for file in _SHARED.glob("*.pid")]
        summed: dict[str, Metric] = {}
        alive = [pid for pid in pids if psutil.pid_exists(pid)]
        for pid in alive:
            for metric in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
                known = summed.setdefault(metric.name, metric)
                if known is not metric:
                    add = max if metric.name == "process_start_time_seconds" else float.__add__
                    (old,), (new,) = known.samples, metric.samples
                    known.samples = [old._replace(value=add(float(old.value), float(new.value)))]
        yield GaugeMetricFamily("knowlex_web_processes", "Web processes that serve.", len(alive))
        yield from summed.values()


_PROCESSES: Final = _WebProcesses()
REGISTRY.register(_PROCESSES)
PlatformCollector(registry=REGISTRY)


class Gauge(Collector):
    """A gauge of one scrape. prometheus_client's own would be kept among the counts of the web processes."""

    def __init__(
        self, name: str, documentation: str, labelnames: tuple[str, ...] | list[str] = (), *,
        registry: CollectorRegistry,
    ) -> None:  # fmt: skip
        self._family = GaugeMetricFamily(name, documentation, labels=labelnames)
        self._labels: tuple[str, ...] = ()
        registry.register(self)

    def labels(self, *labels: str) -> Self:
        """Choose what is set next."""
        self._labels = labels
        return self

    def set(self, value: float) -> None:
        self._family.add_metric(self._labels, value)

    def collect(self) -> Iterator[Metric]:
        yield self._family


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
