"""What answering counts. A few microseconds an answer: no lock is ever waited for on the event loop."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from prometheus_client import Counter, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from embeddings.search import vector_store
from knowlex.runtime import cache
from knowlex.runtime.metrics import REGISTRY, SECONDS, by_labels
from rag.history import recorder
from rag.types.answer import Answer

_answers = Counter(
    "knowlex_answers",
    "Questions answered, or why not: a reason, or an error's code.",
    ["face", "outcome"],
    registry=REGISTRY,
)
_seconds = Histogram(
    "knowlex_answer_seconds", "From request to answer.", ["face"], buckets=SECONDS, registry=REGISTRY
)
_stages = Histogram(
    "knowlex_stage_seconds", "A stage of an answer.", ["stage"], buckets=SECONDS, registry=REGISTRY
)
_tokens = Counter("knowlex_tokens", "Tokens of chat models.", ["model", "direction"], registry=REGISTRY)
_citations = Counter("knowlex_citations", "Checked citations sent.", ["support"], registry=REGISTRY)
_claims = Counter(
    "knowlex_claims",
    "Claims of answers: exact, supported, unverified, contradicted, uncited.",
    ["state"],
    registry=REGISTRY,
)


_answers_of, _seconds_of, _stages_of = by_labels(_answers), by_labels(_seconds), by_labels(_stages)
_tokens_of, _citations_of, _claims_of = by_labels(_tokens), by_labels(_citations), by_labels(_claims)


def count_answer(answer: Answer, *, face: str, cached: bool, latency_ms: float) -> None:
    """One that came out of the cache took no stage and cost no token."""
    _answers_of(face, answer.reason or "answered").inc()
    _seconds_of(face).observe(latency_ms / 1000)
    for citation in answer.citations:
        _citations_of(citation.support).inc()
    for state, count in asdict(answer.verification).items():
        _claims_of(state).inc(count)
    if not cached:
        _count_stages(answer.stage_ms)
        if answer.usage.input_tokens or answer.usage.output_tokens:
            _tokens_of(answer.usage.model, "input").inc(answer.usage.input_tokens)
            _tokens_of(answer.usage.model, "output").inc(answer.usage.output_tokens)


def count_failure(code: str, *, face: str, latency_ms: float) -> None:
    _answers_of(face, code).inc()
    _seconds_of(face).observe(latency_ms / 1000)


def _count_stages(stage_ms: Mapping[str, float]) -> None:
    for stage, milliseconds in stage_ms.items():
        _stages_of(stage).observe(milliseconds / 1000)


class _Elsewhere(Collector):
    """What is counted where it happens, by parts that know nothing of Prometheus."""

    def collect(self) -> Iterator[CounterMetricFamily]:
        looked = CounterMetricFamily(
            "knowlex_cache_lookups", "Answers and questions' vectors looked for.", labels=["kind", "result"]
        )
        for (kind, result), count in sorted(cache.lookups.items()):
            looked.add_metric([kind, result], count)
        yield looked
        recorded = CounterMetricFamily(
            "knowlex_queries_recorded", "Questions written to the database, or lost.", labels=["result"]
        )
        recorded.add_metric(["written"], recorder.totals.written)
        recorded.add_metric(["lost"], recorder.totals.lost)
        yield recorded
        failed = CounterMetricFamily(
            "knowlex_vector_store_failures", "Searches that a vector store failed.", labels=["error"]
        )
        for error, count in sorted(vector_store.failures.items()):
            failed.add_metric([error], count)
        yield failed


REGISTRY.register(_Elsewhere())
