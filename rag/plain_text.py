"""Markdown out of a reply, for faces that promise clean text. Plain Python, linear."""

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^[ \t]*```.*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:[ \t]+\"[^\"\n]{0,200}\")?\)"), r"\1"),
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE), r"\1"),
    (re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,8}[*+•-][ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:[-*_][ \t]*){3,20}$", re.MULTILINE), ""),
    (re.compile(r"(?<!\w)(\*\*\*|\*\*|___|__)(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,1000}?)(?<=[^\s_])_(?![\w_])"), r"\1"),
    (re.compile(r"`([^`\n]{1,1000})`"), r"\1"),
    (re.compile(r"\n{3,}"), "\n\n"),
)


def plain_text(text: str) -> str:
    """The text without Markdown's signs; the words stay."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
