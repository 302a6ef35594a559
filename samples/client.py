"""Write knowlex_client/models.py and operations.py from the server's own schema.

make client: after each change of what a route takes or answers.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
CLIENT = PROJECT / "knowlex_client"
JSON, EVENTS = "application/json", "text/event-stream"
SCALARS = {
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "string": "str",
    "object": "dict[str, Any]",
}
FORMATS = {"uuid": "UUID", "date-time": "datetime"}
MODELS = '''"""What the operations answer. `make client` writes it from the server's schema; do not edit it.

Names of choices are plain text, and fields that are not known here are kept: a newer server breaks nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=(), defer_build=True)
'''
OPERATIONS = '''"""All operations of the server. `make client` writes it from the schema; do not edit it."""

# ruff: noqa: E501 - a line for each
# fmt: off
from typing import Any

from knowlex_client import models
from knowlex_client.exchange import Operation
'''


class Writer:
    """schemas: all of the document's. It remembers which models its types name."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas = schemas
        self._models: dict[str, str] = {}

    def type_of(self, schema: dict[str, Any], *, within: str = "") -> str:
        """Return the type as Python writes it. within: what stands before a model's name."""
        kind = self._bare_type(schema, within)
        return f"{kind} | None" if schema.get("nullable") else kind

    def _bare_type(self, schema: dict[str, Any], within: str) -> str:
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                types = [self.type_of(part, within=within) for part in schema[several]]
                return " | ".join(dict.fromkeys(types))
        if "$ref" in schema:
            name = str(schema["$ref"]).rsplit("/", 1)[1]
            self._write_model(name)
            return within + name
        kind = schema.get("type")
        if kind == "array":
            items = schema.get("prefixItems", [schema.get("items", {})])[0]
            return f"list[{self.type_of(items, within=within)}]"
        values = schema.get("additionalProperties")
        if kind == "object" and isinstance(values, dict):
            return f"dict[str, {self.type_of(values, within=within)}]"
        plain = SCALARS.get(str(kind), "Any")
        return FORMATS.get(str(schema.get("format")), plain)

    def _write_model(self, name: str) -> None:
        if name in self._models:
            return
        self._models[name] = ""
        schema, lines = self._schemas[name], [f"class {name}(Shape):"]
        for field, described in schema.get("properties", {}).items():
            kind = self.type_of(described)
            if field not in schema.get("required", ()):
                kind = f"{kind.removesuffix(' | None')} | None = None"
            lines.append(f"    {field}: {kind}")
        del self._models[name]  # again, behind those that it names
        self._models[name] = "\n".join(lines if len(lines) > 1 else [*lines, "    pass"])

    @property
    def models(self) -> str:
        return "\n\n\n".join([MODELS.strip(), *self._models.values()]) + "\n"

    def operation(self, path: str, method: str, described: dict[str, Any], *, reads: bool) -> str:
        answers = " | ".join(dict.fromkeys(self._answers(described["responses"])))
        parameters = described.get("parameters", ())
        names = tuple(
            parameter["name"]
            for parameter in parameters
            if parameter["in"] != "path" and parameter["name"] != "Idempotency-Key"
        )
        bodies = described.get("requestBody", {}).get("content", {})
        more: dict[str, Any] = {"parameters": names, "bodies": tuple(bodies), "files": self._files(bodies)}
        more["repeatable"] = method in ("get", "put") or reads
        more["keyed"] = any(parameter["name"] == "Idempotency-Key" for parameter in parameters)
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", described["operationId"]).lower()
        given = [_quote_literal(name), _quote_literal(method.upper()), _quote_literal(path), answers]
        given += [f"{key}={_quote_literal(value)}" for key, value in more.items() if value]
        return f"{name}: Operation[{answers}] = Operation({', '.join(given)})"

    def _answers(self, responses: dict[str, Any]) -> Iterator[str]:
        for status, response in responses.items():
            if not status.startswith("2"):
                continue
            kinds = {kind: content for kind, content in response.get("content", {}).items() if kind != EVENTS}
            if not kinds:
                yield "None"
            for kind, content in kinds.items():
                if kind == JSON:
                    yield self.type_of(content["schema"], within="models.")
                else:
                    yield "str" if kind.startswith("text/") or kind.endswith("+xml") else "bytes"

    def _files(self, bodies: dict[str, Any]) -> tuple[str, ...]:
        schema = bodies.get("multipart/form-data", {}).get("schema", {})
        fields = self._schemas[schema["$ref"].rsplit("/", 1)[1]]["properties"] if schema else {}
        return tuple(name for name, described in fields.items() if "binary" in repr(described))


def render(document: dict[str, Any], is_reading: re.Pattern[str]) -> dict[str, str]:
    """Return the text of each file by its name."""
    writer = Writer(document["components"]["schemas"])
    lines = [
        writer.operation(path, method, described, reads=bool(is_reading.fullmatch(path)))
        for path, item in document["paths"].items()
        for method, described in item.items()
    ]
    names = ", ".join(line.partition(":")[0] for line in lines)
    every = f"ALL: dict[str, Operation[Any]] = {{operation.name: operation for operation in ({names})}}"
    return {"models.py": writer.models, "operations.py": "\n".join([OPERATIONS, *lines, "", every, ""])}


def _quote_literal(value: Any) -> str:
    return repr(value).replace("'", '"')


def render_from_server() -> dict[str, str]:
    """The same for the server as it is here. Django must be set up."""
    from django.conf import settings

    from knowlex.openapi import document

    patterns = [*map(re.escape, sorted(settings.READING_PATHS)), *settings.READING_PATTERNS]
    return render(document(), re.compile("|".join(patterns)))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
    sys.path.insert(0, str(PROJECT))
    import django

    django.setup()
    for name, text in render_from_server().items():
        (CLIENT / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
