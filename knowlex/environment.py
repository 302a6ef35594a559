"""The environment variables of Knowlex: names, types, defaults, and a clear refusal of anything unusable."""

from pathlib import Path
from typing import Annotated, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Environment(BaseSettings):
    """Field names are the variables' names in lower case; an empty variable counts as not set."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    knowlex_data_dir: Path = Path(".knowlex")
    knowlex_models_dir: Path = Path(".models")
    database_url: str = ""
    redis_url: str = ""
    knowlex_secret_key: str = ""
    knowlex_host: str = "127.0.0.1"
    knowlex_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    knowlex_allowed_hosts: str = ""

    knowlex_embedder: Literal["local", "openai", "ollama"] | None = None
    knowlex_embedding_model: str = ""
    knowlex_embedding_dimensions: Annotated[int, Field(ge=1, le=16000)] | None = None
    knowlex_embedding_timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 30.0
    knowlex_synthesizer: Literal["extractive", "openai", "ollama"] | None = None
    knowlex_chat_model: str = ""
    openai_api_key: str = ""
    openai_base_url: str = ""
    ollama_host: str = "http://localhost:11434"
    ollama_model: str = "llama3.2:1b"
    ollama_timeout_seconds: Seconds = 10.0
    knowlex_llm_timeout_seconds: Seconds = 10.0
    knowlex_relevance_threshold: Probability = 0.8

    knowlex_vector_store: Literal["pgvector", "qdrant", "chroma", "memory"] = "pgvector"
    vector_store_url: str = ""
    vector_store_collection: str = "corporate_documents"
    vector_store_timeout_seconds: Seconds = 5.0

    knowlex_require_api_key: bool | None = None
    knowlex_max_upload_mb: Annotated[int, Field(ge=1, le=1024)] = 50
    knowlex_rate_limit: str = "600/min"
    knowlex_url_ingest: Literal["on", "off"] = "off"
    knowlex_url_allowed_hosts: str = ""

    knowlex_pdf_reader: Literal["auto", "pypdf", "pdfium"] = "auto"
    knowlex_extractor_processes: Annotated[int, Field(ge=1, le=64)] = 2
    knowlex_chunk_tokens: Annotated[int, Field(ge=50, le=500)] = 300
    knowlex_chunk_overlap: Annotated[int, Field(ge=0, le=250)] = 50
    knowlex_workers: Annotated[int, Field(ge=1, le=64)] = 4

    embedding_model: str = "all-MiniLM-L6-v2"
    min_confidence_threshold: Probability = 0.5
    max_retrieval_results: Annotated[int, Field(ge=1, le=50)] = 5
    log_level: LogLevel = "INFO"

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("database_url", "redis_url", "openai_base_url", "ollama_host")
    @classmethod
    def _known_scheme(cls, value: str) -> str:
        known = ("postgres://", "postgresql://", "redis://", "rediss://", "valkey://", "unix://")
        if value and not value.startswith((*known, "http://", "https://")):
            raise ValueError("is not a URL that can be used")
        return value

    @property
    def embedder(self) -> str:
        return self.knowlex_embedder or ("openai" if self.openai_api_key else "local")

    @property
    def synthesizer(self) -> str:
        return self.knowlex_synthesizer or ("openai" if self.openai_api_key else "extractive")


LATER = {
    "knowlex_embedder": {"ollama": "embedding through Ollama"},
    "knowlex_vector_store": {
        "qdrant": "Qdrant as the vector store",
        "chroma": "Chroma as the vector store",
        "memory": "the in-memory vector store",
    },
    "knowlex_url_ingest": {"on": "ingestion from URLs"},
}


def read_environment() -> Environment:
    """Read and check all variables. Raises ImproperlyConfigured, naming each variable that cannot be used."""
    try:
        environment = Environment()
    except ValidationError as exc:
        lines = [
            f"{'.'.join(str(part) for part in error['loc']).split('.')[0].upper()}: {error['msg']}"
            f" (it is {str(error.get('input'))[:80]!r})"
            for error in exc.errors()
        ]
        raise ImproperlyConfigured("Unusable environment: " + "; ".join(lines)) from None
    for name, values in LATER.items():
        chosen = getattr(environment, name)
        if chosen in values:
            raise ImproperlyConfigured(
                f"{name.upper()}={chosen}: {values[chosen]} is not part of this release."
            )
    return environment
