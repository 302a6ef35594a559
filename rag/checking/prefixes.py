"""Words that differ by a prefix that denies them: "valid" and "invalid". Plain Python."""

from rag.checking import grammar
from rag.checking.statements import Statement


def prefixes_agree(claim: Statement, said: Statement) -> bool:
    """No word of the claim stands in the sentence with such a prefix alone."""
    prefixes = grammar.negating(said.language)
    return not any(
        denied_form(token.text, said, prefixes)
        for token in claim.tokens
        if token.kind in ("word", "name") and token.text not in said.texts
    )


def denied_form(word: str, said: Statement, prefixes: tuple[str, ...]) -> str:
    """What the sentence says for the opposite of the word, or ""."""
    if len(word) < grammar.BASE:
        return ""
    return next((prefix + word for prefix in prefixes if prefix + word in said.texts), "")
