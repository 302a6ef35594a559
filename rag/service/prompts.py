"""The prompt that the Service's document gives, word for word. Plain Python.

Passages are data: what in them looks like a source's label, or like a line of the prompt, is written
otherwise, so that none can add a source, a question or the beginning of an answer.
"""

import re
from hashlib import sha256

from rag.prompts import as_data
from rag.service.places import Place
from rag.types.context import Block, Context
from rag.types.question import Question

INSTRUCTIONS = (
    "You are a helpful assistant. Answer the question based ONLY on the provided context. If the context "
    'does not contain the answer, respond with "I don\'t know." Always cite your sources using the format '
    "[document_name, page X]."
)
PROMPT = INSTRUCTIONS + "\n\nContext:\n{context}\n\nQuestion: {question}\n\nAnswer:"
VERSION = sha256(PROMPT.encode()).hexdigest()[:12]
_BRACKETED = re.compile(r"[\[【［〔]([^\[\]【】［］〔〕\n]{0,400})[\]】］〕]([ \t]*[:：])?")
_PLACE = re.compile(r"[,;:][ \t]*(?:pages?|pp?|pgs?|sections?|secs?|chapters?|§)[ \t.:]*\S", re.IGNORECASE)
_FILE = re.compile(r"\.[a-z][a-z0-9]{1,4}\b", re.IGNORECASE)
_ANSWER = re.compile(
    r"^([ \t]*(?:the[ \t]+)?(?:final[ \t]+)?answer)[ \t]*[:：]", re.IGNORECASE | re.MULTILINE
)


def prompt_of(question: Question, context: Context) -> str:
    """One line or more for each block, behind its label; then the question, on one line."""
    blocks = "\n".join(f"{label_of(block, context)}: {_as_data(block.content)}" for block in context.blocks)
    return PROMPT.format(context=blocks, question=" ".join(question.text.split()))


def label_of(block: Block, context: Context) -> str:
    """`[safety_manual.pdf, p.5]`; of a block of several passages, the place where it begins."""
    return Place.of(context.passages[block.parts[0].passage]).label


def _as_data(text: str) -> str:
    return _ANSWER.sub(r"\1 -", _BRACKETED.sub(_unlabelled, as_data(text)))


def _unlabelled(found: re.Match[str]) -> str:
    """What may be taken for a label or a citation, in round brackets."""
    inside, colon = found[1], found[2]
    if colon or _PLACE.search(inside) or _FILE.search(inside):
        return f"({inside}){' -' if colon else ''}"
    return found[0]
