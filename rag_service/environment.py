"""The environment variables of `RAGService`; a value that cannot be used is refused by name."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from knowlex import values

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Name = Annotated[str, AfterValidator(values.name)]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
OllamaHost = Annotated[str, BeforeValidator(values.ollama_host), AfterValidator(values.web_url)]
WebUrl = Annotated[str, BeforeValidator(values.with_scheme), AfterValidator(values.web_url)]
LOCAL_MODEL = "all-MiniLM-L6-v2"
ARGUMENTS = ("ollama_host", "vector_store_url", "embedding_model")
SECRET = {"OLLAMA_HOST", "VECTOR_STORE_URL", "VECTOR_STORE_API_KEY"}  # URLs may hold passwords


class ServiceEnvironment(BaseSettings):
    """Field names are the variables' names in lower case; an empty or blank variable counts as not set."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True, extra="ignore", str_strip_whitespace=True, frozen=True
    )

    ollama_host: OllamaHost = "http://localhost:11434"
    ollama_model: Name = "llama3.2:1b"
    ollama_timeout_seconds: Seconds = 10.0
    ollama_keep_alive: Annotated[str, AfterValidator(values.duration)] = "30m"
    vector_store_url: WebUrl = "http://chromadb:8001"
    vector_store_collection: Name = "corporate_documents"
    vector_store_timeout_seconds: Seconds = 5.0
    vector_store_api_key: Annotated[str, AfterValidator(values.header_value)] = ""
    vector_store_tenant: Name = "default_tenant"
    vector_store_database: Name = "default_database"
    embedding_model: Name = LOCAL_MODEL
    min_confidence_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    max_retrieval_results: Annotated[int, Field(ge=1, le=50)] = 5
    log_level: Annotated[LogLevel, BeforeValidator(values.upper)] = "INFO"
    knowlex_models_dir: str = ""

    @model_validator(mode="before")
    @classmethod
    def _drop_blank(cls, variables: Any) -> Any:
        return values.drop_blank(variables)

    @property
    def embeds_by_ollama(self) -> bool:
        return self.local_model is None

    @property
    def local_model(self) -> str | None:
        """The model that needs no server, or None where Ollama is to embed."""
        name = self.embedding_model.removeprefix("sentence-transformers/")
        return LOCAL_MODEL if name.lower() == LOCAL_MODEL.lower() else None


def read_environment(**arguments: str | None) -> ServiceEnvironment:
    """arguments: go before the variables of the same names; None and blank are not given.

    Raises ValueError, naming each variable that cannot be used.
    """
    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
    try:
        return ServiceEnvironment(**given)  # type: ignore[arg-type]
    except ValidationError as exc:
        problems = "; ".join(_describe_problem(error) for error in exc.errors(include_url=False))
        raise ValueError(f"RAGService cannot use {problems}.") from None


def _describe_problem(error: Any) -> str:
    name = str(error["loc"][0])
    shown_name = name.upper()
    if name in ARGUMENTS:
        shown_name += f" (or the argument {name})"
    return values.describe_error(error, shown_name, is_secret=name.upper() in SECRET)
