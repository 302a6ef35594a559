import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from embeddings.lexical.terms import question_lexemes
from knowlex.base.errors import RetrievalFailed, SynthesisFailed, SynthesisTimeout
from rag.answering.pipeline import Pipeline
from rag.citations import checker
from rag.context.assembly import ContextMaker
from rag.prompts import NOT_FOUND
from rag.protocols import Synthesizer
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.answer import Answer, Source, Sources, Synthesis, Usage
from rag.types.claims import Claim, Judgement
from rag.types.context import Block, Context, Half, Place, Room
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval, Saying
from tests.rag.factory import (
    CannedRetriever,
    CannedSynthesizer,
    KeepOrder,
    Reversing,
    as_given,
    passage,
    pipeline,
    question,
)


async def test_an_answer_holds_valid_markers_into_its_context():
    answering, _ = pipeline("Fact 2 is true [2]. Fact 1 is true [1]. So is [9].", passage(1), passage(2))
    answer = await answering.answer(question())
    assert (answer.answered, answer.text, answer.cited) == (
        True,
        "Fact 2 is true [2]. Fact 1 is true [1]. So is.",
        (2, 1),
    )
    assert [p.chunk_index for p in answer.context] == [1, 2]


async def test_far_passages_never_reach_the_model():
    answering, model = pipeline("unused [1]", passage(1, relevance=0.79))
    answer = await answering.answer(question())
    assert (answer.answered, answer.retrieved, model.contexts) == (False, 1, [])
    assert answer.confidence == 0.79
    assert answer.usage == Usage(model="canned")


async def test_relevance_at_the_threshold_is_enough():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1, relevance=0.8))
    assert (await answering.answer(question())).answered


async def test_without_a_threshold_everything_passes():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1, relevance=0.0))
    assert (await answering.answer(question(min_relevance=0.0))).answered


async def test_an_answer_that_cites_nothing_is_none():
    answering, _ = pipeline("Paris is the capital.", passage(1))
    answer = await answering.answer(question())
    assert (answer.answered, answer.text, answer.cited) == (False, "", ())


async def test_an_answer_that_cites_only_what_does_not_exist_is_none():
    answering, _ = pipeline("Paris [7].", passage(1))
    assert not (await answering.answer(question())).answered


async def test_a_refusal_is_none_even_if_it_cites():
    answering, _ = pipeline("Answer not found in provided content [1].", passage(1))
    assert not (await answering.answer(question())).answered


async def test_nothing_found_is_no_error():
    answering, model = pipeline("unused [1]")
    answer = await answering.answer(question())
    assert (answer.answered, answer.retrieved, answer.confidence, model.contexts) == (False, 0, 0.0, [])


async def test_the_reranker_decides_which_are_the_top_k():
    answering, model = pipeline(
        "Fact number 1 is true [1].", *(passage(n) for n in (1, 2, 3)), reranker=Reversing()
    )
    answer = await answering.answer(question(top_k=2))
    assert [p.chunk_index for p in model.contexts[0]] == [3, 2]
    assert answer.retrieved == 2


async def test_the_same_words_twice_take_one_place():
    answering, model = pipeline(
        "Fact number 1 is true [1].", passage(1, "Same."), passage(2, "Same."), passage(3, "Other.")
    )
    await answering.answer(question(top_k=2))
    assert [p.chunk_id for p in model.contexts[0]] == [UUID(int=1), UUID(int=3)]


async def test_every_stage_is_timed():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1))
    answer = await answering.answer(question())
    assert answer.stage_ms.keys() == {"retrieve", "rerank", "relevance", "context", "synthesize", "check"}


class Brooding:
    """A judge that comes to no verdict."""

    async def judge(self, claim: Claim, blocks: Sequence[Block]) -> Judgement:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def test_the_deadline_holds_for_the_judge_too_streamed_or_not():
    model = CannedSynthesizer("Fact number 1 is true [1].")
    answering = Pipeline(CannedRetriever(passage(1)), KeepOrder(), as_given, model, Brooding())
    with pytest.raises(SynthesisTimeout):
        await answering.answer(question(deadline=time.monotonic() + 0.2))
    with pytest.raises(SynthesisTimeout):
        _ = [event async for event in answering.stream(question(deadline=time.monotonic() + 0.2))]


async def test_others_have_their_turn_while_a_long_reply_is_checked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checker, "MAX_BLOCKING_S", 0.0)
    answering, _ = pipeline("Fact number 1 is true [1]. " * 50, passage(1))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    assert (await answering.answer(question())).answered
    waiting.cancel()
    assert turns >= 50


class Forgetful(CannedSynthesizer):
    """Says `text`; asked for markers, `again`. replies: those that it was asked to mark."""

    def __init__(self, text: str, again: str | SynthesisFailed) -> None:
        super().__init__(text)
        self.again, self.replies = again, list[str]()

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return replace(await super().synthesize(question, context), usage=Usage(10, 5, "canned"))

    async def cite_again(self, question: Question, context: Context, reply: str) -> Synthesis:
        self.replies.append(reply)
        if isinstance(self.again, SynthesisFailed):
            raise self.again
        return Synthesis(self.again, Usage(20, 6, "canned"))


async def both_ways(model: CannedSynthesizer, **fields: Any) -> tuple[Answer, Answer, str]:
    """The answer whole; streamed; and the text that was shown of the stream."""
    answering = Pipeline(CannedRetriever(passage(1)), KeepOrder(), as_given, model)
    events = [event async for event in answering.stream(question(**fields))]
    last = events[-1]
    assert isinstance(last, Answer)
    shown = "".join(event for event in events if isinstance(event, str))
    return await answering.answer(question(**fields)), last, shown


async def test_a_reply_without_markers_is_asked_for_them_once():
    model = Forgetful("Fact number 1 is true.", "Fact number 1 is true [1].")
    for answer in (await both_ways(model))[:2]:
        assert (answer.reason, answer.text, answer.cited) == (None, "Fact number 1 is true [1].", (1,))
    assert model.replies == ["Fact number 1 is true."] * 2
    answer, _, _ = await both_ways(model)
    assert answer.usage == Usage(30, 11, "canned")


@pytest.mark.parametrize(
    ("again", "reason"),
    [
        ("Fact number 1 is true.", "not_supported"),
        ("Answer not found in provided content", "model_declined"),
        (SynthesisFailed("gone"), "not_supported"),
        (SynthesisTimeout("late"), "not_supported"),
    ],
)
async def test_what_comes_of_it_holds(again: str | SynthesisFailed, reason: str):
    model = Forgetful("Fact number 1 is true.", again)
    for answer in (await both_ways(model))[:2]:
        assert (answer.reason, answer.text) == (reason, "")
    assert len(model.replies) == 2


@pytest.mark.parametrize("said", ["Fact number 1 is true [1].", NOT_FOUND, "", "?!"])
async def test_no_other_reply_is_asked_for_markers(said: str):
    model = Forgetful(said, "Fact number 1 is true [1].")
    await both_ways(model)
    assert model.replies == []


async def test_nothing_is_asked_again_shortly_before_the_deadline():
    model = Forgetful("Fact number 1 is true.", "Fact number 1 is true [1].")
    await both_ways(model, deadline=time.monotonic() + 0.9)
    assert model.replies == []


class Structured(CannedSynthesizer):
    """Claims with their sources."""

    pieces = ("Fact number 1 ", "is true", Sources((Source(1, "Fact number 1"),), "."))

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return Synthesis("", Usage(), self.pieces)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Sources | Usage]:
        for piece in self.pieces:
            yield piece
        yield Usage()


async def test_claims_and_their_sources_are_read_as_text_with_markers():
    whole, streamed, shown = await both_ways(Structured(""))
    assert whole.text == streamed.text == shown == "Fact number 1 is true [1]."
    assert whole.cited == streamed.cited == (1,)


class Answering:
    """A retriever with a passage for each word, as relevant to a question as is said of the word."""

    def __init__(self, **relevance: float) -> None:
        self.relevance = relevance
        self.asked: list[str] = []

    async def retrieve(self, question: Question) -> Retrieval:
        self.asked.append(question.text)
        named = [word for word in self.relevance if word in question.text]
        alone = len(named) == 1
        found = [
            passage(n, f"{word} is true.", relevance=relevance if alone and word in named else 0.01)
            for n, (word, relevance) in enumerate(self.relevance.items(), start=1)
        ]
        return Retrieval(tuple(sorted(found, key=lambda one: -one.relevance)))


class Reading(CannedSynthesizer):
    """A model with a prompt."""

    prompt_version = "1"

    def room(self, question: Question) -> Room:
        return Room(question.text, 100)


async def compared(retriever: Answering, model: Synthesizer | None = None, **fields: Any) -> Answer:
    model = model or Reading("Alpha is true [1].")
    asked = question("Which is older, Alpha or Beta?", **fields)
    made = Pipeline(retriever, KeepOrder(), as_given, model, contexts=ContextMaker(floor=0.05))
    return await made.answer(asked)


async def test_of_two_things_compared_each_is_searched_for():
    retriever = Answering(Other=0.9, Beta=0.85, Alpha=0.9)
    answer = await compared(retriever, top_k=2)
    assert sorted(retriever.asked) == [
        "Which is older, Alpha or Beta?",
        "when was Alpha",
        "when was Beta",
    ]
    assert {one.content for one in answer.context} == {"Alpha is true.", "Beta is true."}
    assert (answer.retrieved, answer.confidence) == (2, pytest.approx(0.9, abs=0.01))


async def test_a_thing_of_which_nothing_is_found_leaves_the_question_as_it_is():
    answer = await compared(Answering(Alpha=0.9, Beta=0.02))
    assert (answer.reason, answer.confidence) == ("below_threshold", 0.01)


async def test_a_chat_model_is_shown_what_is_doubtful_of_one_of_two_things():
    answer = await compared(Answering(Alpha=0.9, Beta=0.12))
    assert {one.content for one in answer.context} == {"Alpha is true.", "Beta is true."}


class Doubtful(Answering):
    """A passage that is as relevant, and as near, whatever is asked."""

    def __init__(self, relevance: float, *, distance: float | None = None, model: str = "") -> None:
        super().__init__()
        found = passage(1, "Alpha is true.", relevance=relevance, distance=distance)
        self.found = Retrieval((found,), model_name=model)

    async def retrieve(self, question: Question) -> Retrieval:
        return self.found


@pytest.mark.parametrize(
    ("model", "relevance", "threshold", "reason"),
    [
        (Reading("Alpha is true [1]."), 0.06, 0.8, None),
        (Reading(NOT_FOUND), 0.06, 0.8, "model_declined"),
        (Reading("Alpha is true [1]."), 0.04, 0.8, "below_threshold"),
        (Reading("Alpha is true [1]."), 0.5, 0.99, "below_threshold"),
        (Reading("Alpha is true [1]."), 0.99, 1.0, "below_threshold"),
        (ExtractiveSynthesizer(), 0.7, 0.8, "below_threshold"),
    ],
)
async def test_who_can_decline_is_asked_with_less(
    model: Synthesizer, relevance: float, threshold: float, reason: str | None
):
    made = Pipeline(Doubtful(relevance), KeepOrder(), as_given, model, contexts=ContextMaker(floor=0.01))
    answer = await made.answer(question("Is Alpha true?", min_relevance=threshold))
    assert answer.reason == reason
    assert (answer.text == "Alpha is true [1].") == (reason is None)


@pytest.mark.parametrize(
    ("distance", "model", "reason"),
    [
        (0.55, "all-MiniLM-L6-v2", None),
        (0.65, "all-MiniLM-L6-v2", "below_threshold"),
        (0.18, "multilingual-e5-small", "below_threshold"),
        (0.55, "a model whose cosines are not known", "below_threshold"),
    ],
)
async def test_what_is_near_in_other_words_is_asked_about(distance: float, model: str, reason: str | None):
    retriever = Doubtful(0.0, distance=distance, model=model)
    writer = Reading("Alpha is true [1].")
    made = Pipeline(retriever, KeepOrder(), as_given, writer, contexts=ContextMaker(floor=0.01))
    assert (await made.answer(question("Is Alpha true?"))).reason == reason
    _, trail = await made.traced_search(question("Is Alpha true?"))
    assert trail.near == ({one.chunk_id for one in trail.passages} if reason is None else set())
    assert (await made.answer(question("Is Alpha true?", min_relevance=1.0))).reason == "below_threshold"


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (Reading("Alpha is true [1]. Beta is true [2]."), {"strict_context": True}),
        (ExtractiveSynthesizer(), {}),
    ],
)
async def test_each_is_answered_where_every_passage_must_reach_the_threshold(
    model: Synthesizer, fields: dict[str, Any]
):
    answer = await compared(Answering(Alpha=0.9, Beta=0.85), model, **fields)
    assert (answer.text, answer.cited) == ("Alpha is true [1]. Beta is true [2].", (1, 2))


class Recording(ExtractiveSynthesizer):
    """Keeps the halves of the question that it is asked."""

    halves: tuple[Half, ...] = ()

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        self.halves = context.halves
        return await super().synthesize(question, context)


async def test_what_reads_passages_is_told_what_is_asked_of_each_thing():
    model = Recording()
    await compared(Answering(Alpha=0.9, Beta=0.85), model)
    assert [half.text for half in model.halves] == ["when was Alpha", "when was Beta"]


async def test_a_string_is_searched_for_as_it_is():
    retriever = Answering(Alpha=0.9, Beta=0.9)
    assert (await compared(retriever, mode="exact")).reason == "below_threshold"
    assert len(retriever.asked) == 1


def sayings_of_own(words: Collection[str]) -> list[Saying]:
    """Each chunk of one document says them, and no other."""
    return [Saying(word, UUID(int=1), 5, 5, 5, 5) for word in words]


class Unreachable(CannedRetriever):
    """Finds passages, and fails where it is to look into one document. rests: what it was to find there."""

    def __init__(self, *passages: Passage) -> None:
        super().__init__(*passages)
        self.rests: list[str] = []

    async def retrieve(self, question: Question) -> Retrieval:
        words = question_lexemes(question.text, [""])[""]
        return Retrieval(self.passages, dict.fromkeys(words, 1.0), reranker="sentence")

    async def find_sayings(self, question: Question, lexemes: Collection[str]) -> list[Saying]:
        return sayings_of_own(lexemes)

    async def retrieve_within(self, question: Question, document_ids: Collection[UUID]) -> Retrieval:
        self.rests.append(question.text)
        raise RetrievalFailed("The question could not be embedded.")


async def test_a_question_that_names_a_document_is_answered_though_the_second_search_fails():
    own = {"document_id": UUID(int=1), "document_name": "harbour-pilots.pdf"}
    retriever = Unreachable(*(passage(n, **own) for n in range(1, 4)))
    model = CannedSynthesizer("Fact number 1 is true [1].")

    answer = await Pipeline(retriever, KeepOrder(), as_given, model).answer(
        question("Which facts of the harbour pilots are true?")
    )

    assert retriever.rests == ["Which facts of the are true?"]
    assert answer.answered


class OfOneDocument(CannedRetriever):
    """Finds three of a document's passages for the question, and two more of it for the rest."""

    OWN = {"document_id": UUID(int=1), "document_name": "harbour-pilots.pdf"}
    KNOWN = {4: 0.7}  # distance to the question; nobody can say that of the fifth

    async def retrieve(self, question: Question) -> Retrieval:
        words = question_lexemes(question.text, [""])[""]
        found = tuple(passage(n, score=5.0, **self.OWN) for n in (1, 2, 3))
        return Retrieval(found, dict.fromkeys(words, 1.0), reranker="sentence")

    async def find_sayings(self, question: Question, lexemes: Collection[str]) -> list[Saying]:
        return sayings_of_own(lexemes)

    async def retrieve_within(self, question: Question, document_ids: Collection[UUID]) -> Retrieval:
        found = tuple(passage(n, score=13.0 - n, distance=0.1, **self.OWN) for n in (4, 5))
        return Retrieval(found, reranker="sentence")

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        known = (n for n in self.KNOWN if any(place.chunk_index == n for place in places))
        return tuple(passage(n, distance=self.KNOWN[n], **self.OWN) for n in known)


async def test_what_the_rest_of_a_question_finds_has_its_distance_to_the_whole():
    pipeline = Pipeline(OfOneDocument(), KeepOrder(), as_given, CannedSynthesizer("x"))

    result = await pipeline.search(question("Which facts of the harbour pilots are true?"))

    first = result.passages[0]
    assert (first.chunk_index, first.distance) == (4, 0.7)
    assert {one.chunk_index for one in result.passages} == {1, 2, 3, 4}
