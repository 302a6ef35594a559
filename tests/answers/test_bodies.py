"""What each face tells of an answer's claims, numbered and placed as in the answer that it sends."""

from dataclasses import replace
from typing import Any

from knowlex.base.ids import new_id
from rag.answering.ask import AskResult
from rag.api.ask import ask_body
from rag.api.query import query_body
from rag.api.v1 import query
from rag.api.v1.questions import QuestionSettings
from rag.types.answer import Answer, Citation, Contradiction, Support, Verification
from rag.types.question import Question
from tests.rag.factory import passage, question

NORDERNEY = "The lighthouse of Norderney is 54 metres tall. It was lit in 1874."
STEPS = "It has 253 steps."
ANSWER = (
    "It has 253 steps [3]. It is 54 metres tall and was lit in 1874 [2][3]. It is red [3], not 90 years old."
)
CONTEXT = (
    passage(1, distance=0.1),
    passage(2, NORDERNEY, distance=0.3, start_char=1000, page_number=4),
    passage(3, STEPS, distance=0.2, start_char=50, chapter="North"),
)


def cited(number: int, content: str, quote: str, claim: str, support: Support) -> Citation:
    start, placed = content.index(quote), ANSWER.index(claim)
    return Citation(number, start, start + len(quote), placed, placed + len(claim), support)


LIT = "It is 54 metres tall and was lit in 1874"
CITATIONS = (
    cited(3, STEPS, "It has 253 steps.", "It has 253 steps", "exact"),
    cited(2, NORDERNEY, "It was lit in 1874.", LIT, "supported"),
    cited(3, STEPS, "It has 253 steps.", LIT, "unverified"),
)
RED = "It is red [3], not 90 years old"
CONTRADICTED = (Contradiction(ANSWER.index(RED), len(ANSWER) - 1, ("90 years", "not")),)
COUNTS = {"exact": 1, "supported": 1, "unverified": 0, "contradicted": 1, "uncited": 0}


def asked(asking: Question | None = None) -> AskResult:
    answer = Answer(
        asking or question("How tall?"), True, ANSWER, CONTEXT, (3, 2), 3, 0.9, citations=CITATIONS,
        contradicted=CONTRADICTED, verification=Verification(**COUNTS),
    )  # fmt: skip
    return AskResult(answer, new_id(), "tea", cached=False, latency_ms=7, pages=(3, 4, 3))


def answer_body(asked: AskResult, settings: QuestionSettings) -> dict[str, Any]:
    return query.answer_body(asked, settings, query.QueryAnswer).model_dump()


def claims_of(answer: str, citations: list[dict[str, Any]], start: str, end: str) -> list[str]:
    return [answer[one[start] : one[end]] for one in citations]


def test_the_platform_numbers_passages_by_first_citation():
    body = answer_body(asked(), QuestionSettings(response_format="json"))
    assert body["answer"].startswith("It has 253 steps [1]. It is 54 metres tall and was lit in 1874 [2][1].")
    assert [source["chunk_id"] for source in body["sources"]] == [CONTEXT[2].chunk_id, CONTEXT[1].chunk_id]
    assert [one["citation_index"] for one in body["citations"]] == [1, 2, 1]
    assert [one["page_number"] for one in body["citations"]] == [3, 4, 3]
    assert [one["support"] for one in body["citations"]] == ["exact", "supported", "unverified"]
    names = [(one["document_name"], one["title"]) for one in body["citations"][:2]]
    assert names == [("document3.pdf", "Document 3"), ("document2.pdf", "Document 2")]
    lit = body["citations"][1]
    assert lit["quoted_text"] == "It was lit in 1874."
    assert (lit["start_char"], lit["end_char"]) == (1047, 1066)
    claims = claims_of(body["answer"], body["citations"], "answer_start", "answer_end")
    assert claims == ["It has 253 steps", LIT, LIT]
    assert body["claims"] == [
        {"text": "It has 253 steps", "citation_indexes": [1], "support": "exact"},
        {"text": LIT, "citation_indexes": [2, 1], "support": "supported"},
    ]
    assert body["sources"][1]["content_snippet"].startswith("It was lit in 1874.")


def test_a_contradicted_claim_is_told_with_what_is_missing_and_its_place_in_the_answer():
    body = answer_body(asked(), QuestionSettings())
    (claim,) = body["contradicted"]
    assert (claim["text"], claim["missing"]) == ("It is red, not 90 years old", ("90 years", "not"))
    assert body["answer"][claim["answer_start"] : claim["answer_end"]] == "It is red [1], not 90 years old"
    assert body["verification"] == COUNTS
    for body, marker in ((ask_body(asked()).model_dump(), "[2]"), (query_body(asked()).model_dump(), "[1]")):
        (claim,) = body["metadata"]["contradicted"]
        assert (claim["text"], claim["missing"]) == ("It is red, not 90 years old", ("90 years", "not"))
        shown = body["answer"][claim["answerStart"] : claim["answerEnd"]]
        assert shown == f"It is red {marker}, not 90 years old"
        assert body["metadata"]["verification"] == COUNTS


def test_without_an_answer_nothing_is_counted():
    nothing = Answer(question("How tall?"), False, "", (), (), 0, 0.0, reason="not_supported")
    body = answer_body(replace(asked(), answer=nothing, pages=()), QuestionSettings())
    assert body["contradicted"] == []
    assert body["verification"] == dict.fromkeys(COUNTS, 0)


def test_the_claims_of_one_that_could_not_be_confirmed_are_unverified():
    doubtful = replace(asked().answer, citations=(replace(CITATIONS[0], support="unverified"),))
    body = answer_body(
        replace(asked(), answer=doubtful, pages=(3,)), QuestionSettings(response_format="json")
    )
    assert [claim["support"] for claim in body["claims"]] == ["unverified"]


def test_claims_are_told_in_json_only():
    assert "claims" not in answer_body(asked(), QuestionSettings())


def test_ask_numbers_passages_by_distance():
    body = ask_body(asked()).model_dump()
    assert body["answer"].startswith("It has 253 steps [2]. It is 54 metres tall and was lit in 1874 [3][2].")
    citations = body["metadata"]["citations"]
    assert [one["citationIndex"] for one in citations] == [2, 3, 2]
    for one in citations:
        assert body["sourceChunks"][one["citationIndex"] - 1]["chunkId"] == one["chunkId"]
    assert [one["documentName"] for one in citations] == ["document3.pdf", "document2.pdf", "document3.pdf"]


def test_query_numbers_documents_by_first_citation():
    body = query_body(asked()).model_dump()
    citations = body["metadata"]["citations"]
    for one in citations:
        assert body["citedDocuments"][one["citationIndex"] - 1]["id"] == one["documentId"]
    claims = claims_of(body["answer"], citations, "answerStart", "answerEnd")
    assert claims == ["It has 253 steps", LIT, LIT]


def test_query_names_the_page_that_most_of_a_documents_quotes_stand_on():
    text = "It was long in the making. The lighthouse of Norderney was lit on 1 October 1874."
    short, long = text.split(". ", 1)
    told = f"{short} [1]. {long[:-1]} [1]."
    citations = (
        Citation(1, 0, len(short) + 1, 0, len(short), "exact"),
        Citation(1, len(short) + 2, len(text), told.index(long[:-1]), told.index(" [1].", 40), "exact"),
    )
    shown = (passage(1, text, page_number=3, last_page=4),)
    answer = Answer(question("When?"), True, told, shown, (1,), 1, 0.9, citations=citations)
    body = query_body(AskResult(answer, new_id(), "", cached=False, latency_ms=7, pages=(3, 4))).model_dump()
    (document,) = body["citedDocuments"]
    assert (document["pageNumber"], document["pages"]) == (4, [3, 4])
    assert document["snippet"].startswith("The lighthouse of Norderney was lit")


def test_a_follow_up_is_told_as_it_was_asked_and_as_it_was_understood():
    follow_up = question("How tall is the lighthouse?", original="How tall is it?")
    assert ask_body(asked(follow_up)).model_dump()["query"] == "How tall is it?"
    body = answer_body(asked(follow_up), QuestionSettings())
    assert body["rewritten_query"] == "How tall is the lighthouse?"
