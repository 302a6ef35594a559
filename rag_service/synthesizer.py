"""Answers from Ollama by the prompt that the Service's document gives word for word: sources are named.

Passages are data: what in them looks like a source's label, or like a line of the prompt, is written
otherwise, so that none can add a source, a question or the beginning of an answer.
"""

import math
import re
from collections.abc import AsyncGenerator
from hashlib import sha256

from knowlex.base.errors import SynthesisFailed
from rag.chat.protocol import ChatModel, user
from rag.chat.replies import EMPTY
from rag.prompts import as_data
from rag.types.answer import Synthesis, Usage
from rag.types.context import Block, Context, Room
from rag.types.question import Question
from rag_service.citations import MarkerReader, NamedSource

MAX_TOKENS = 500
INSTRUCTIONS = (
    "You are a helpful assistant. Answer the question based ONLY on the provided context. If the context "
    'does not contain the answer, respond with "I don\'t know." Always cite your sources using the format '
    "[document_name, page X]."
)
PROMPT = INSTRUCTIONS + "\n\nContext:\n{context}\n\nQuestion: {question}\n\nAnswer:"
CITE_AGAIN = (
    "The answer cites no source of the context. Write it again, with its source behind every claim in the "
    "format [document_name, page X]. If the context does not contain the answer, respond with "
    '"I don\'t know."'
)
VERSION = sha256(f"{PROMPT}\0{CITE_AGAIN}".encode()).hexdigest()[:12]
REPLY_CHARS = 4000  # of a reply that is shown to its model again
_BRACKETED = re.compile(r"[\[【［〔]([^\[\]【】［］〔〕\n]{0,400})[\]】］〕]([ \t]*[:：])?")
_PLACE = re.compile(r"[,;:][ \t]*(?:pages?|pp?|pgs?|sections?|secs?|chapters?|§)[ \t.:]*\S", re.IGNORECASE)
_FILE = re.compile(r"\.[a-z][a-z0-9]{1,4}\b", re.IGNORECASE)
_ANSWER = re.compile(
    r"^([ \t]*(?:the[ \t]+)?(?:final[ \t]+)?answer)[ \t]*[:：]", re.IGNORECASE | re.MULTILINE
)


class NamedSourceSynthesizer:
    """A Synthesizer for one question. reply: what the model said last, as it came; "" before."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.reply = ""

    @property
    def model_name(self) -> str:
        return self._model.model_name

    @property
    def prompt_version(self) -> str:
        return VERSION

    def room(self, question: Question) -> Room:
        return Room(f"{INSTRUCTIONS}\n{question.text}", MAX_TOKENS)

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return await self._ask(build_prompt(question, context), question, context)

    async def cite_again(self, question: Question, context: Context, reply: str) -> Synthesis:
        """Ask by the same prompt, with the reply and one line more: generating, a model has no turns."""
        said = f"{build_prompt(question, context)} {reply[:REPLY_CHARS].strip()}"
        return await self._ask(f"{said}\n\n{CITE_AGAIN}\n\nAnswer:", question, context)

    async def _ask(self, prompt: str, question: Question, context: Context) -> Synthesis:
        completion = await self._complete(prompt, question.within(math.inf))
        self.reply = completion.text
        return Synthesis(MarkerReader(context).number_markers(completion.text), completion.usage)

    async def _complete(self, prompt: str, timeout_s: float) -> Synthesis:
        """A reply that is still empty after all tries cites nothing; it is no failure."""
        try:
            return await self._model.complete((user(prompt),), max_tokens=MAX_TOKENS, timeout_s=timeout_s)
        except SynthesisFailed as exc:
            if exc.message != EMPTY:
                raise
            return Synthesis("", Usage(model=self.model_name))

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        """Yield the whole reply at once: a marker can be read only when it is complete."""
        synthesis = await self.synthesize(question, context)
        yield synthesis.text
        yield synthesis.usage


def build_prompt(question: Question, context: Context) -> str:
    """Write each block behind its label, then the question on one line."""
    blocks = "\n".join(f"{_label(block, context)}: {_quote(block.content)}" for block in context.blocks)
    return PROMPT.format(context=blocks, question=" ".join(question.text.split()))


def _label(block: Block, context: Context) -> str:
    """A block of several passages is labelled with the place where it begins."""
    return NamedSource.of(context.passages[block.parts[0].passage]).label


def _quote(text: str) -> str:
    return _ANSWER.sub(r"\1 -", _BRACKETED.sub(_unlabel, as_data(text)))


def _unlabel(match: re.Match[str]) -> str:
    """Write what may be taken for a label or a citation in round brackets."""
    inside, colon = match[1], match[2]
    if colon or _PLACE.search(inside) or _FILE.search(inside):
        return f"({inside}){' -' if colon else ''}"
    return match[0]
