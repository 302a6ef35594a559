"""What `health_check` returns. Plain Python."""

from knowlex.base.times import utc_timestamp


def report(status: str, *, ollama: str, vector_store: bool, embedding_model: bool) -> dict[str, str]:
    """The document's keys."""
    return {
        "status": status,
        "ollama": ollama,
        "vector_store": "connected" if vector_store else "unreachable",
        "embedding_model": "loaded" if embedding_model else "not_loaded",
        "timestamp": utc_timestamp(),
    }


def unhealthy() -> dict[str, str]:
    """Where not even the parts could be made."""
    return report("unhealthy", ollama="unreachable", vector_store=False, embedding_model=False)
