"""GET /v1/models: what OpenAI's clients choose from: `knowlex`, and `knowlex/NAME` for each collection."""

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import Access, access_of
from documents.library import collections
from knowlex.base.errors import Forbidden, NotFound
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import body_response
from knowlex.web.shapes import Count, OutputShape

ALL = "knowlex"
MAX_MODELS = 1000  # collections beyond them can be asked all the same


class ModelShape(OutputShape):
    id: Annotated[str, Field(description="`knowlex` asks all that the key may read, or `knowlex/NAME`.")]
    object: Literal["model"] = "model"
    created: Annotated[Count, Field(description="Seconds since 1970.")] = 0
    owned_by: str = "knowlex"


class ModelList(OutputShape):
    object: Literal["list"] = "list"
    data: list[ModelShape]


def collection_of(model: str) -> str | None:
    """Return the name or id that the model stands for, None for all. Raises NotFound."""
    if model == ALL:
        return None
    prefix, _, name = model.partition("/")
    if prefix != ALL or not name:
        raise model_not_found(model)
    return name


def model_not_found(model: str) -> NotFound:
    """Return the same error for what is not there and for what the key may not use, as OpenAI does."""
    message = f"The model {model!r} does not exist or you do not have access to it."
    return NotFound(message, details={"field": "model"})


@operation(
    "listModels",
    "Collections as models, for programs that speak OpenAI's API",
    answer(200, f"`knowlex`, then at most {MAX_MODELS} collections by name.", ModelList),
    tag="openai",
)
def index(request: HttpRequest) -> HttpResponse:
    rows = collections.list_by_name(access=access_of(request), limit=MAX_MODELS)
    return body_response(ModelList(data=[ModelShape(id=ALL), *map(_shape, rows)]))


@operation("getModel", "One model", answer(200, "The model.", ModelShape), tag="openai", failures="404")
def show(request: HttpRequest, model: str) -> HttpResponse:
    name = collection_of(model)
    if name is None:
        return body_response(ModelShape(id=ALL))
    return body_response(_shape(_find(name, model, access_of(request))))


def _find(name: str, model: str, access: Access) -> Any:
    try:
        return collections.find_collection(name, access=access)
    except (NotFound, Forbidden):
        raise model_not_found(model) from None


def _shape(collection: Any) -> ModelShape:
    return ModelShape(id=f"{ALL}/{collection.name}", created=int(collection.created_at.timestamp()))
