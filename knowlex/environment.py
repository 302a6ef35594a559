"""The environment variables of Knowlex: names, types, defaults, and a clear refusal of anything unusable."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname
from typing import Annotated, Any, Literal, Self

import psutil
from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from knowlex import values

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Processes = Annotated[int, Field(ge=1, le=64)]
Key = Annotated[str, AfterValidator(values.header_value)]
WebUrl = Annotated[str, AfterValidator(values.web_url)]
SEARCH_S = 5.0
MAX_DEFAULT_WORKERS = 16
MAX_DEFAULT_WEB_PROCESSES = 4
MEMORY_OF_WEB_PROCESS = 1024**3  # the machine has for each, with what it runs beside
PREFIXES = ("KNOWLEX_", "VECTOR_STORE_")
INTERNAL = {"KNOWLEX_READY_FD", "KNOWLEX_WEB_PROCESS"}  # what `up` tells its own processes
OF_CLIENTS = {"KNOWLEX_URL", "KNOWLEX_API_KEY"}  # what `knowlex_client` reads, on this machine too
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
LOCAL_MODELS, LOCAL_DIMENSIONS = ("all-MiniLM-L6-v2", "multilingual-e5-small"), 384
# Names under which vectors are kept that an earlier release made, and the model that takes their place.
FORMER_MODELS = {"multilingual-e5-small-mean": "multilingual-e5-small"}
# In which at least three of four questions are answered right in the documents' language: docs/evaluation.md.
SERVED_LANGUAGES = {
    LOCAL_MODELS[0]: {"de": "German", "en": "English", "es": "Spanish"},
    LOCAL_MODELS[1]: {"ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "zh": "Chinese"},
}


class Environment(BaseSettings):
    """Field names are the variables' names in lower case; an empty or blank variable counts as not set."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", str_strip_whitespace=True)

    knowlex_data_dir: Annotated[Path, AfterValidator(values.writable_folder)] = Path(".knowlex")
    knowlex_models_dir: Annotated[Path, AfterValidator(values.folder)] = Path(".models")
    database_url: Annotated[str, AfterValidator(values.database_url)] = ""
    database_read_url: Annotated[str, AfterValidator(values.database_url)] = ""
    redis_url: Annotated[str, AfterValidator(values.redis_url)] = ""
    knowlex_secret_key: str = ""
    knowlex_host: Annotated[str, AfterValidator(values.host)] = "127.0.0.1"
    knowlex_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    knowlex_allowed_hosts: Annotated[str, AfterValidator(values.host_names)] = ""
    knowlex_public_url: WebUrl = ""

    knowlex_embedder: Literal["local", "openai", "ollama"] | None = None
    knowlex_embedding_model: str = ""
    knowlex_embedding_dimensions: Annotated[int, Field(ge=1, le=16000)] | None = None
    knowlex_embedding_timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 30.0
    knowlex_synthesizer: Literal["extractive", "openai", "ollama"] | None = None
    knowlex_chat_model: str = ""
    openai_api_key: Key = ""
    openai_base_url: WebUrl = ""
    ollama_host: Annotated[WebUrl, BeforeValidator(values.ollama_host)] = "http://localhost:11434"
    ollama_model: str = "llama3.2:1b"
    ollama_timeout_seconds: Seconds = 10.0
    ollama_keep_alive: Annotated[str, AfterValidator(values.duration)] = "30m"
    knowlex_llm_timeout_seconds: Seconds = 10.0
    knowlex_relevance_threshold: Probability = 0.8
    knowlex_context_floor: Probability = 0.01
    knowlex_verification: Literal["inform", "strict"] = "inform"
    knowlex_answer_timeout_seconds: Seconds | None = None
    knowlex_context_tokens: Annotated[int, Field(ge=500, le=100_000)] = 4000
    knowlex_chat_context_tokens: Annotated[int, Field(ge=1000, le=10_000_000)] | None = None
    knowlex_chat_temperature: Annotated[float, Field(ge=0, le=0.3, allow_inf_nan=False)] = 0.0
    knowlex_structured_claims: Literal["auto", "on", "off"] = "auto"
    knowlex_sentence_reader: Literal["on", "off"] = "on"
    knowlex_claim_judge: Literal["words", "nli", "chat"] = "words"
    knowlex_claim_judge_model: str = ""
    knowlex_history_tokens: Annotated[int, Field(ge=0, le=100_000)] = 1000
    knowlex_query_log: Literal["on", "off"] = "on"
    knowlex_query_retention_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    knowlex_cache: Literal["on", "off"] = "on"
    knowlex_answer_cache_seconds: Annotated[int, Field(ge=0, le=604_800)] = 3600

    knowlex_vector_store: Literal["pgvector", "qdrant", "chroma", "memory"] = "pgvector"
    vector_store_url: WebUrl = ""
    vector_store_collection: Annotated[str, AfterValidator(values.collection_name)] = "corporate_documents"
    vector_store_timeout_seconds: Seconds = 5.0
    vector_store_api_key: Key = ""
    vector_store_tenant: str = "default_tenant"
    vector_store_database: str = "default_database"

    knowlex_vector_index: Literal["ivfflat", "hnsw", "none"] = "ivfflat"
    knowlex_vector_index_storage: Literal["vector", "halfvec"] = "halfvec"
    knowlex_rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60
    knowlex_dense_weight: Probability = 0.5
    knowlex_reranker: Literal["sentence", "none", "cross-encoder", "http"] = "sentence"
    knowlex_reranker_model: str = ""
    knowlex_reranker_url: WebUrl = ""
    knowlex_reranker_api_key: Key = ""
    knowlex_reranker_timeout_seconds: Seconds = 2.0
    knowlex_query_rewriting: Literal["on", "off"] = "off"
    knowlex_query_rewriting_timeout_seconds: Seconds = 3.0
    knowlex_filter_keys: Annotated[str, AfterValidator(values.filter_key_list)] = ""

    knowlex_require_api_key: bool | None = None
    knowlex_max_upload_mb: Annotated[int, Field(ge=1, le=1024)] = 50
    knowlex_rate_limit: Annotated[str, AfterValidator(values.rate)] = "600/min"
    knowlex_daily_tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    knowlex_trusted_proxies: Annotated[int, Field(ge=0, le=10)] = 0
    knowlex_oidc_url: WebUrl = ""
    knowlex_oidc_client_id: str = ""
    knowlex_oidc_client_secret: Key = ""
    knowlex_oidc_name: Annotated[str, Field(max_length=40)] = "OpenID Connect"
    knowlex_oidc_groups_claim: str = "groups"
    knowlex_url_ingest: Literal["on", "off"] = "off"
    knowlex_url_allowed_hosts: Annotated[str, AfterValidator(values.host_list)] = ""

    knowlex_source_folders: Annotated[str, AfterValidator(values.folder_list)] = ""

    knowlex_files: Literal["local", "s3"] = "local"
    knowlex_s3_bucket: str = Field(default="", pattern=r"^([A-Za-z0-9][\w.-]{1,62})?$")
    knowlex_s3_prefix: str = Field(default="", max_length=200, pattern=r"^[\w.!()/-]*$")
    knowlex_s3_endpoint: WebUrl = ""
    knowlex_s3_region: str = Field(default="us-east-1", pattern=r"^[\w-]+$")
    knowlex_s3_access_key_id: Key = ""
    knowlex_s3_secret_access_key: Key = ""

    knowlex_pdf_reader: Literal["auto", "pypdf", "pdfium"] = "auto"
    knowlex_ocr: Literal["auto", "on", "off"] = "auto"
    knowlex_ocr_languages: str = Field(default="", pattern=r"^([\w/-]+(\+[\w/-]+)*)?$")
    knowlex_extractor_processes: Processes = 2
    knowlex_viewer_processes: Processes = 2
    knowlex_page_cache_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    knowlex_chunk_tokens: Annotated[int, Field(ge=50, le=500)] = 300
    knowlex_chunk_overlap: Annotated[int, Field(ge=0, le=250)] = 50
    knowlex_workers: Processes | None = None
    knowlex_web_processes: Processes | None = None

    embedding_model: str = "all-MiniLM-L6-v2"
    min_confidence_threshold: Probability = 0.5
    max_retrieval_results: Annotated[int, Field(ge=1, le=50)] = 5
    log_level: Annotated[LogLevel, BeforeValidator(values.upper)] = "INFO"

    @model_validator(mode="before")
    @classmethod
    def _drop_blank(cls, variables: Any) -> Any:
        return values.drop_blank(variables)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        """Rules between variables; each message begins with the variable to put right."""
        self._check_models()
        self._check_reranker()
        self._check_claim_judge()
        self._check_vector_store()
        self._check_oidc()
        self._check_files()
        if self.knowlex_chunk_overlap * 2 > self.knowlex_chunk_tokens:
            raise ValueError("KNOWLEX_CHUNK_OVERLAP: must be at most half of KNOWLEX_CHUNK_TOKENS")
        return self

    def _check_models(self) -> None:
        chosen = {"KNOWLEX_EMBEDDER": self.embedder, "KNOWLEX_SYNTHESIZER": self.synthesizer}
        for variable, provider in chosen.items():
            if provider == "openai" and not self.openai_api_key and not self.openai_base_url:
                raise ValueError(f"OPENAI_API_KEY: is needed for {variable}=openai (or OPENAI_BASE_URL)")
        if self.embedder == "local":
            self._check_local_model()

    def _check_local_model(self) -> None:
        name, sizes = self.knowlex_embedding_model, (None, LOCAL_DIMENSIONS)
        if "/" not in name and name not in ("", *LOCAL_MODELS, *FORMER_MODELS):
            raise ValueError(
                f"KNOWLEX_EMBEDDING_MODEL: {name!r} is no local model; there are {', '.join(LOCAL_MODELS)}, "
                "and any sentence-transformers model in ONNX by the path of its folder"
            )
        if "/" in name and not Path(name).expanduser().is_dir():
            raise ValueError(f"KNOWLEX_EMBEDDING_MODEL: there is no folder {name}")
        if "/" not in name and self.knowlex_embedding_dimensions not in sizes:
            raise ValueError(
                f"KNOWLEX_EMBEDDING_DIMENSIONS: {name or LOCAL_MODELS[0]} has {LOCAL_DIMENSIONS}"
            )

    def _check_reranker(self) -> None:
        if self.knowlex_reranker == "http" and not self.knowlex_reranker_url:
            raise ValueError("KNOWLEX_RERANKER_URL: is needed for KNOWLEX_RERANKER=http")
        if self.knowlex_reranker == "cross-encoder":
            try:
                self.knowlex_reranker_model = values.onnx_folder(self.knowlex_reranker_model)
            except ValueError as exc:
                raise ValueError(f"KNOWLEX_RERANKER_MODEL: {exc}") from None

    def _check_claim_judge(self) -> None:
        if self.knowlex_claim_judge == "nli":
            try:
                self.knowlex_claim_judge_model = values.onnx_folder(self.knowlex_claim_judge_model)
            except ValueError as exc:
                raise ValueError(f"KNOWLEX_CLAIM_JUDGE_MODEL: {exc}") from None
        if self.knowlex_claim_judge == "chat" and not self.chat_model:
            raise ValueError(
                "KNOWLEX_CLAIM_JUDGE: chat needs a chat model; set KNOWLEX_SYNTHESIZER to openai or ollama, "
                "or KNOWLEX_CHAT_MODEL"
            )

    def _check_vector_store(self) -> None:
        chosen = self.knowlex_vector_store
        if chosen in ("qdrant", "chroma") and not self.vector_store_url:
            raise ValueError(f"VECTOR_STORE_URL: is needed for KNOWLEX_VECTOR_STORE={chosen}")

    def _check_oidc(self) -> None:
        needed = {
            "KNOWLEX_OIDC_URL": self.knowlex_oidc_url,
            "KNOWLEX_OIDC_CLIENT_ID": self.knowlex_oidc_client_id,
            "KNOWLEX_OIDC_CLIENT_SECRET": self.knowlex_oidc_client_secret,
        }
        missing = [variable for variable, value in needed.items() if not value]
        if 0 < len(missing) < len(needed):
            raise ValueError(f"{missing[0]}: is needed, too, to log in by OpenID Connect")

    def _check_files(self) -> None:
        if self.knowlex_files == "local":
            return
        if not self.knowlex_s3_bucket:
            raise ValueError("KNOWLEX_S3_BUCKET: is needed for KNOWLEX_FILES=s3")
        if bool(self.knowlex_s3_access_key_id) != bool(self.knowlex_s3_secret_access_key):
            lacking = "SECRET_ACCESS_KEY" if self.knowlex_s3_access_key_id else "ACCESS_KEY_ID"
            raise ValueError(f"KNOWLEX_S3_{lacking}: is needed, too")
        if find_spec("botocore") is None:
            raise ValueError("KNOWLEX_FILES: s3 needs botocore; pip install -r requirements-s3.txt")

    @property
    def require_api_key(self) -> bool:
        """Ask for a key where others can reach the API, unless it was said."""
        if self.knowlex_require_api_key is None:
            return not values.is_loopback(self.knowlex_host)
        return self.knowlex_require_api_key

    @property
    def workers(self) -> int:
        """Return the worker processes: one for each core that this process may use, unless they are set."""
        return self.knowlex_workers or min(available_cores(), MAX_DEFAULT_WORKERS)

    @property
    def web_processes(self) -> int:
        """Return the web processes of `up`: one for each core and each GiB of memory, unless they are set."""
        most = min(available_cores(), available_memory() // MEMORY_OF_WEB_PROCESS, MAX_DEFAULT_WEB_PROCESSES)
        return self.knowlex_web_processes or max(1, most)

    @property
    def embedder(self) -> str:
        return self.knowlex_embedder or ("openai" if self.openai_api_key else "local")

    @property
    def embedder_chosen(self) -> bool:
        """Return whether anything names an embedding model; else the active one in the database is used."""
        chosen = (self.knowlex_embedder, self.knowlex_embedding_model, self.knowlex_embedding_dimensions)
        return any(chosen) or bool(self.openai_api_key)

    @property
    def local_model(self) -> dict[str, str]:
        """Return its name; of one in a folder also the path, whose last part is its name."""
        name = self.knowlex_embedding_model or LOCAL_MODELS[0]
        if "/" not in name:
            return {"model_name": name}
        path = Path(name).expanduser().resolve()
        return {"model_name": path.name, "path": str(path)}

    @property
    def allowed_hosts(self) -> list[str]:
        """Return the Host headers that are answered: the chosen ones, else this machine's own; and always the
        loopback ones, by which `up`, commands and health checks ask.
        """
        loopback = ["localhost", "127.0.0.1", "[::1]"]
        if self.knowlex_allowed_hosts:
            return [
                *loopback,
                *(name.strip() for name in self.knowlex_allowed_hosts.split(",") if name.strip()),
            ]
        bound = map(values.as_host, values.bound_addresses(self.knowlex_host))
        return [*loopback, gethostname().lower(), *bound]

    @property
    def synthesizer(self) -> str:
        return self.knowlex_synthesizer or ("openai" if self.openai_api_key else "extractive")

    @property
    def answer_timeout(self) -> float:
        """Return the seconds for a question; what the search may take comes on top of the model's limit."""
        return self.knowlex_answer_timeout_seconds or self.knowlex_llm_timeout_seconds + SEARCH_S

    @property
    def reply_tokens(self) -> int | None:
        """Return what the chat model's window leaves for a reply; None for as many tokens as are asked for.

        The prompt takes at most the context's tokens less 1000 that are kept for the reply.
        """
        window = self.knowlex_chat_context_tokens
        return None if window is None else max(1000, window - self.knowlex_context_tokens)

    @property
    def rewriting_timeout(self) -> float:
        """Return the seconds, never more than a model may take for an answer."""
        return min(self.knowlex_query_rewriting_timeout_seconds, self.knowlex_llm_timeout_seconds)

    @property
    def chat_model(self) -> str:
        """Return who rewrites questions and reads claims: the synthesizer, or the provider of
        KNOWLEX_CHAT_MODEL; "" for nobody.
        """
        if self.synthesizer != "extractive":
            return self.synthesizer
        if not self.knowlex_chat_model:
            return ""
        return "openai" if self.openai_api_key or self.openai_base_url else "ollama"


SECRET = {  # or URLs, which may hold passwords
    *("DATABASE_URL", "DATABASE_READ_URL", "REDIS_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    *("KNOWLEX_RERANKER_URL", "KNOWLEX_RERANKER_API_KEY", "VECTOR_STORE_URL", "VECTOR_STORE_API_KEY"),
    *("KNOWLEX_S3_ENDPOINT", "KNOWLEX_S3_ACCESS_KEY_ID", "KNOWLEX_S3_SECRET_ACCESS_KEY"),
    "KNOWLEX_SECRET_KEY",
    "KNOWLEX_OIDC_CLIENT_SECRET",
}


def available_cores() -> int:
    """Count the cores that this process may run on, often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Return the bytes of the machine's memory, or what its control group leaves it of them."""
    total = int(psutil.virtual_memory().total)
    try:
        return min(total, int(CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no such control groups, or "max"
        return total


def describe_unknown_variables(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that looks like one of ours and is none, with the nearest name."""
    known = {name.upper() for name in Environment.model_fields}
    unknown = sorted(
        name for name in environ if name.startswith(PREFIXES) and name not in known | INTERNAL | OF_CLIENTS
    )
    sentences = []
    for name in unknown:
        nearest = get_close_matches(name, known, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        sentences.append(f"{name} is set, but Knowlex knows no such variable.{hint}")
    return sentences


def read_environment() -> Environment:
    """Read and check all variables. Raises ImproperlyConfigured, naming each variable that cannot be used."""
    try:
        return Environment()
    except ValidationError as exc:
        problems = "; ".join(_describe_problem(error) for error in exc.errors(include_url=False))
        raise ImproperlyConfigured(f"Unusable environment: {problems}.") from None


def _describe_problem(error: Any) -> str:
    if not error["loc"]:  # of a rule between variables, which names one itself
        return str(error["msg"].removeprefix("Value error, "))
    name = str(error["loc"][0]).upper()
    return values.describe_error(error, name, is_secret=name in SECRET)
