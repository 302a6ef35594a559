"""A small model that reads a sentence beside a question, and says whether it answers.

Words and vectors say what a sentence is about; where a document is about the subject but silent on what is
asked, its sentences look to them like answers. The model ships with Knowlex (reader/README.md: what it was
made of, and how good it is). With the words of multilingual-e5-small, whose layers it has, it reads some
other languages than English, too.
"""

import asyncio
import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from embeddings.lexical.languages import detect_question_languages
from rag.local_models import Limit, ModelFailed
from rag.question_forms import asks_for_overview, comparison_in
from rag.ranking.logits import logit_of
from rag.synthesizers.reader_model import ReaderModel, check_files, has_whole_vocabulary
from rag.types.question import Question

SHIPPED = Path(__file__).parent / "reader"
MOST_CHARS = 1200  # of a sentence; the model has 512 places
KEPT_READINGS = 256
KEPT_QUESTIONS = 256
LOADING_S = 10.0  # for the first reading of a process, which loads the model: half a second, or more if busy
# By language, what a question of a fact has, and "Summarize ...", "revenue 2023" have not.
_INTERROGATIVES = {
    "en": r"\b(?:who|whom|whose|what|when|where|which|why|how)\b",
    "de": r"\b(?:we[rmn]|wessen|was|wann|wo(?:her|hin|rin|ran|rauf|raus|rüber|durch|für|mit|nach|von|zu)?"
    r"|welche[mnrs]?|warum|weshalb|wieso|wie|wieviele?)\b",
    "es": r"\b(?:qué|quién(?:es)?|cuándo|a?dónde|cuál(?:es)?|cómo|cuánt[oa]s?)\b",
    "zh": r"什么|甚么|什麼|甚麼|[谁誰哪几幾何怎]|多少|多[久长長大高远遠深快重宽寬]",
    "ar": r"\b(?:ما|ماذا|مَ?ن|متى|أين|كيف|كم|لماذا|[بلف]?أي|[بلف]?أية|بم|لمن|ممن)\b",
}
_ASKS = {code: re.compile(words, re.IGNORECASE) for code, words in _INTERROGATIVES.items()}
READ = frozenset(_ASKS)
# What is asked so is answered by a sentence that decides it.
_DECIDED = {
    "en": r"\A\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|shall|should|will"
    r"|would)\b",
    "de": r"\A\W*(?:ist|sind|war|waren|bin|hat|habe|haben|hatte|hatten|kann|können|könnte|darf|dürfen|muss"
    r"|müssen|soll|sollen|sollte|wird|werden|wurde|wurden|will|wollen|gibt|gab|gilt|gelten|bekomme|bekommt"
    r"|bekommen|brauche|braucht|brauchen|zahle|zahlt|zahlen|kostet|lässt|lassen|enthält|enthalten|gehört"
    r"|gehören)\b",
    "es": r"¿",
    "zh": r"[吗嗎]|[么麼][？?]|是否|[能可]否|有没有|有沒有|是不是|能不能|可不可以|会不会|會不會",
    "ar": r"\A\W*(?:هل|أ?ليس)\b",
}
_YES_OR_NO = {code: re.compile(words, re.IGNORECASE) for code, words in _DECIDED.items()}

_COMMAND = re.compile(
    r"\W*(?:please|summari[sz]e|list|explain|describe|tell|compare|contrast|give|show|name|find|define|discuss"
    r"|outline)\b",
    re.IGNORECASE,
)
MOST_KEYWORDS = 8

_FIELD = re.compile(r"(?:[-*+•]\s)?\s*(?P<label>[^\W\d_][^:.!?\n]{0,60}):\s+(?P<value>\S[^?!]*)")
_EMPHASIS = re.compile(r"\*\*|__")
MOST_OF_LABEL, MOST_OF_VALUE = 5, 12  # words of a field


class Pair(NamedTuple):
    """What the model reads. asked: the question, as one asks it beside this sentence."""

    asked: str
    sentence: str


MOST = 4.0  # logit of a relevance: passages that are surer answer no more often


class Weights(NamedTuple):
    """Of the logit that an answer answers: by relevance, by the reading (both logits), and of neither."""

    relevance: float
    reading: float
    intercept: float

    def logit(self, relevance: float, reading: float) -> float:
        return self.relevance * min(logit_of(relevance), MOST) + self.reading * reading + self.intercept


class Scale(NamedTuple):
    """What readings are worth.

    usual: of the sentences of passages that are relevant by themselves; where it weighs their relevance, of
    the others beside them as well. lone: where none is.
    """

    usual: Weights
    lone: Weights

    def raising(self, best: float, least: float) -> Weights | None:
        """Return what makes passages relevant by what was read of them; None where nothing does.

        best: the relevance of the most relevant passage. least: from which on one is relevant.
        """
        if best < least:
            return self.lone
        return self.usual if self.usual.relevance else None


# Fitted by benchmarks/evaluation/fit_reading.py and languages.py, but for how relevance and reading share in
# the usual ones of English, chosen on nine sets; how good they are is in docs/evaluation.md.
ENGLISH = Scale(Weights(0.5, 0.55, 1.3), Weights(0.2, 0.6, 1.2))
OWN = Scale(Weights(0.0, 0.6, 2.79), Weights(0.48, 0.55, 1.56))  # in the language of what is read
FOREIGN = Scale(Weights(0.0, 0.51, 3.05), Weights(0.49, 0.5, 1.13))  # in another one


def below_heading(heading: str, sentence: str) -> str:
    """Return a sentence as it is read: with the heading that it stands below, "" for none, before it."""
    if not heading or heading in sentence:
        return sentence
    return f"{heading} {sentence}" if heading.endswith((":", "?")) else f"{heading}: {sentence}"


def tell_field(text: str) -> str:
    """Return a field in English, "Author: Jane Doe", as the sentence that it stands for; else the text.

    The reader learnt from sentences, and reads these better.
    """
    field = _FIELD.fullmatch(_EMPHASIS.sub("", text))
    if field is None:
        return text
    label, value = field["label"], field["value"].rstrip(".")
    if len(label.split()) > MOST_OF_LABEL or len(value.split()) > MOST_OF_VALUE:
        return text
    plural = label.endswith("s") and not label.endswith(("ss", "us", "is"))
    label = label[0].lower() + label[1:] if label[1:].islower() else label
    return f"The {label} {'are' if plural else 'is'} {value}."


class SentenceReader:
    """Slow or failing, it reads nothing, and answers are as they were without it; see `Limit`.

    It reads for one question at a time, and `timeout_s` is long enough for the turns of a crowd, who rather
    wait than be told what does not answer. folder: see `ReaderModel`. Raises ValueError for a folder without
    the files of a model.
    """

    def __init__(self, folder: Path = SHIPPED, *, timeout_s: float = 4.0) -> None:
        check_files(folder)
        self._folder = folder
        self.limit = Limit(timeout_s, what="sentence reader")
        self._model: ReaderModel | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(1, "reader")  # starts it when needed
        self._logit = lru_cache(KEPT_READINGS)(self._read)  # passages are read before sentences are chosen

    async def read(
        self, question: Question, pairs: Sequence[Pair], *, english: bool = True
    ) -> list[float] | None:
        """Return the logit of each that its sentence answers what is asked; None where that cannot be told
        now.

        question: which the pairs are read for.
        """
        loop = asyncio.get_running_loop()
        return await self.limit.call(
            lambda: loop.run_in_executor(self._threads, self._logits, pairs, english),
            within_s=question.spare(math.inf),
            timeout_s=None if self._model else LOADING_S,
        )

    async def warm_up(self, *, timeout_s: float) -> None:
        """Load the model, so that the first question does not wait for it."""
        loop = asyncio.get_running_loop()
        await self.limit.call(lambda: loop.run_in_executor(self._threads, self._loaded), timeout_s=timeout_s)

    def _logits(self, pairs: Sequence[Pair], english: bool) -> list[float]:
        return [self._logit(pair, english) for pair in pairs]

    def _read(self, pair: Pair, english: bool) -> float:
        return self._loaded().logit(pair.asked, pair.sentence[:MOST_CHARS], english=english)

    def _loaded(self) -> ReaderModel:
        with self._loading:
            if self._model is None:
                try:
                    self._model = ReaderModel(self._folder)
                except ValueError as exc:
                    raise ModelFailed("The sentence reader's model cannot be loaded.") from exc
            return self._model


def scale_for(text: str, languages: Sequence[str]) -> Scale | None:
    """Return what readings are worth; None where the model was not made for question and texts.

    text: of the question. languages: of what it is to be read beside, "" where it is unknown.
    """
    two = comparison_in(text)
    if asks_for_overview(text) or (two and two.compared):
        return None
    asked, written = set(detect_question_languages(text)), {one for one in languages if one}
    if asked | written <= {"en"}:
        return ENGLISH if _asks_in("en", text) or is_keywords(text) else None
    known = (asked or written) & READ
    if not (known and written <= READ and any(_asks_in(code, text) for code in known)):
        return None
    if not has_whole_vocabulary():
        return None
    return OWN if not asked or written <= asked else FOREIGN


def _asks_in(language: str, text: str) -> bool:
    return any(words[language].search(text) for words in (_ASKS, _YES_OR_NO))


def answers(relevance: float, reading: float, least: float, weights: Weights) -> bool:
    """Return whether it is at least so probable that the sentence answers.

    relevance: of its passage. reading: a logit. least: as for a passage; 0 lets everything pass.
    """
    if least <= 0:
        return True
    return weights.logit(relevance, reading) >= logit_of(least)


@lru_cache(maxsize=KEPT_QUESTIONS)
def is_keywords(text: str) -> bool:
    """Return whether a question in English is typed as keywords: "Nike net income 2021"."""
    return not (_asks_in("en", text) or _COMMAND.match(text)) and len(text.split()) <= MOST_KEYWORDS


def as_question(text: str) -> str:
    """Return keywords as the question that they stand for; another text as it is."""
    return f"What is {text.strip().rstrip('?')}?" if is_keywords(text) else text
