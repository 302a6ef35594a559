"""POST /v1/embeddings: vectors of the active model, as OpenAI's clients ask for them."""

from base64 import b64encode
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from embeddings import services
from knowlex.base.errors import InvalidInput
from knowlex.web.fields import is_blank
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import plain_json_response
from knowlex.web.shapes import AsItIs, Count, InputShape, OutputShape, Rule, choice, read_body
from rag.context.tokens import estimate_tokens

MAX_TEXTS, MAX_CHARS, MAX_CHARS_IN_ALL = 256, 32_000, 200_000
_TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_CHARS}
_INPUT = {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "maxItems": MAX_TEXTS, "items": _TEXT}]}


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not 1 <= len(texts) <= MAX_TEXTS:
        raise ValueError(f"must be a string, or a list of 1 to {MAX_TEXTS} strings")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("must hold strings: lists of token numbers are of another model's vocabulary")
    if any(len(text) > MAX_CHARS or is_blank(text) for text in texts):
        raise ValueError(f"must hold texts that are non-blank and at most {MAX_CHARS} characters")
    if sum(map(len, texts)) > MAX_CHARS_IN_ALL:
        raise ValueError(f"must hold at most {MAX_CHARS_IN_ALL} characters in all")
    return texts


class EmbeddingsAsked(InputShape):
    model_config = ConfigDict(
        json_schema_extra={"example": {"model": "knowlex", "input": ["The tower has 253 steps."]}}
    )

    model: Annotated[str, Field(description="Whatever it is: the active model's vectors are returned.")] = ""
    input: Annotated[list[str], Rule(_texts, _INPUT)]
    encoding_format: Annotated[Literal["float", "base64"], choice("float", "base64")] = "float"
    dimensions: Annotated[int | None, Field(description="None but the active model's.")] = None


class EmbeddingShape(OutputShape):
    object: Literal["embedding"] = "embedding"
    index: Count
    embedding: Annotated[
        Any,
        AsItIs(anyOf=[{"type": "array", "items": {"type": "number"}}, {"type": "string", "format": "byte"}]),
        Field(description="Numbers, or with base64 their little-endian 32-bit floats."),
    ]


class EmbeddingUsage(OutputShape):
    prompt_tokens: Annotated[Count, Field(description="As estimated from the texts.")]
    total_tokens: Count


class EmbeddingList(OutputShape):
    object: Literal["list"] = "list"
    model: Annotated[str, Field(description="The active model's name.")]
    data: list[EmbeddingShape]
    usage: EmbeddingUsage


@operation(
    "createEmbeddings",
    "Vectors of texts, by the active embedding model",
    answer(200, "One for each text, in their order, as passages have them.", EmbeddingList),
    tag="openai",
    body=EmbeddingsAsked,
    failures={"503": "The embedding model, or the database, is not reachable"},
)
def create(request: HttpRequest) -> HttpResponse:
    asked = read_body(request, EmbeddingsAsked)
    name, vectors = services.embed_texts(asked.input)
    if asked.dimensions not in (None, len(vectors[0])):
        raise InvalidInput(f"dimensions must be those of {name}: {len(vectors[0])}.", field="dimensions")
    encode = _as_base64 if asked.encoding_format == "base64" else _as_floats
    tokens = sum(map(estimate_tokens, asked.input))
    body = EmbeddingList(
        model=name,
        data=[EmbeddingShape(index=i, embedding=encode(vector)) for i, vector in enumerate(vectors)],
        usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
    )
    return plain_json_response(body)


def _as_floats(vector: Any) -> Any:
    return vector.tolist()


def _as_base64(vector: Any) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode("ascii")
