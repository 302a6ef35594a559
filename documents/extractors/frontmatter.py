"""What stands in YAML before a Markdown text."""

import re
from typing import Any

import yaml

from documents.extractors.cleaning import clean_label

_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$|\.\.\.[ \t]*$).*\n){0,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M
)
_FIELD = re.compile(r"^([a-z][\w-]{0,40})[ \t]*:[ \t]*(\S.*)$", re.M | re.I)
# Under which of our names each field is kept; blogs, notebooks and static sites use all of them.
_NAMES = {
    "title": "title",
    "author": "author",
    "authors": "author",
    "date": "date",
    "created": "created",
    "updated": "modified",
    "modified": "modified",
    "lastmod": "modified",
    "tags": "tags",
    "keywords": "keywords",
    "categories": "categories",
    "description": "description",
    "summary": "description",
    "subject": "subject",
    "lang": "language",
    "language": "language",
}
_MAX_CHARS = 20_000
_MAX_LISTED = 50
_MAX_NESTED = 100  # brackets; PyYAML needs quadratic time for nested ones


def split_front_matter(source: str) -> tuple[dict[str, str], str]:
    """(its fields under our names, the rest): front matter describes the text and is no part of it."""
    found = _FRONT_MATTER.match(source)
    if found is None:
        return {}, source
    fields: dict[str, str] = {}
    for name, value in _parsed(found["fields"]).items():
        ours = _NAMES.get(str(name).lower(), "")
        label = clean_label(_as_text(value))
        if ours and label:
            fields.setdefault(ours, label)
    return fields, source[found.end() :]


def _parsed(text: str) -> dict[Any, Any]:
    """As YAML where it is sane YAML, else its `name: value` lines: nobody checks front matter."""
    try:
        if (
            len(text) <= _MAX_CHARS
            and text.count("[") + text.count("{") < _MAX_NESTED
            and not _has_alias(text)
        ):
            fields = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - safer than safe_load: strings only
            if isinstance(fields, dict):
                return fields
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):  # TypeError: a list for a key
        pass
    return {name: value.strip("\"' ") for name, value in _FIELD.findall(text[:_MAX_CHARS])}


def _has_alias(text: str) -> bool:
    """`*name` repeats what `&name` stands for, again and again if somebody means ill."""
    return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.BaseLoader))


def _as_text(value: Any) -> str:
    """ "" for what is neither a string nor a list of strings."""
    if isinstance(value, list):
        return ", ".join(item.strip() for item in value[:_MAX_LISTED] if isinstance(item, str))
    return value if isinstance(value, str) else ""
