"""Messages of several sentences: what is asked in them, and how they are answered without a chat model."""

import httpx
import pytest

from rag.conversation.messages import questions_in
from tests.conversations.test_http import BELFRY, BREAD, TALL, ask
from tests.platform import talk
from tests.provider import Provider
from tests.support.stack import Stack


@pytest.mark.parametrize(
    ("message", "question"),
    [
        (f"{TALL} Please answer in one sentence and cite your source. If you don't know, say so.", TALL),
        (f"Hi! I'm preparing a talk for my class. {TALL} Thanks in advance!", TALL),
        (f"You are a careful assistant. Use only the documents. {TALL} Be brief.", TALL),
        (f"Context: we read these documents.\n\n{TALL}\n\nFormat: one sentence.", TALL),
        (f"Could you help me? {TALL}", TALL),
        (f"{TALL} I want to climb it with my kids.", TALL),
        ("I am in Ghent. What is it known for?", "What is Ghent known for?"),
        ("I read that Tesla worked for Edison. Why did he leave?", "Why did Tesla leave?"),
        (
            "What did Nike earn in 2019? And in 2020?",
            "What did Nike earn in 2019? What did Nike earn in 2020?",
        ),
        ("Who runs Nike? And who owns it?", "Who runs Nike? Who owns Nike?"),
        ("Explain how bread is baked. Keep it short.", "Explain how bread is baked."),
        ("Hallo! Wann wurde Tesla geboren? Antworte bitte in einem Satz.", "Wann wurde Tesla geboren?"),
        ("Bonjour. Où est né Tesla ? Merci d'avance.", "Où est né Tesla ?"),
        ("¿Dónde nació Tesla? Responde en una frase.", "¿Dónde nació Tesla?"),
    ],
)
def test_a_question_is_asked_without_what_is_said_around_it(message: str, question: str):
    assert questions_in(message) == (question,)


def test_what_is_said_of_the_matter_behind_a_question_is_searched_for_first():
    asked, means = "What is Nike's quick ratio?", "It is cash divided by current liabilities."
    assert questions_in(f"{asked} {means} Round your answer to one decimal.") == (f"{asked} {means}", asked)


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Tell me about Kenya.", "Kenya"),
        ("Do you have anything about refunds for damaged goods?", "refunds for damaged goods"),
        ("Which documents mention Amazon?", "Amazon"),
        ("What does the handbook say about parental leave?", "parental leave"),
        ("Can you tell me about the history of Warsaw?", "the history of Warsaw"),
        ("Was steht in den Dokumenten über Kündigung?", "Kündigung"),
    ],
)
def test_a_topic_is_searched_for_by_itself_first(message: str, topic: str):
    assert questions_in(message) == (topic, message)
    assert questions_in(f"Hello! {message} Please be brief.") == (topic, message)


@pytest.mark.parametrize(
    "message",
    [
        TALL,
        "Which documents do I need to apply?",
        "Is there a limit on uploads?",
        "Tell me about Tesla and Edison.",
        "My laptop was stolen. Who do I have to inform?",
        "Who runs Nike? Where does Adobe have its seat?",
        "Sourdough bakes for forty minutes. It is eaten cold.",
        "Thanks! Hello.",
        "?? !",
    ],
)
def test_other_messages_are_asked_as_they_are(message: str):
    assert questions_in(message) == ()


@pytest.fixture
def library(client: httpx.Client) -> httpx.Client:
    talk.ingested(client, talk.text(BELFRY, "belfry.txt"), talk.text(BREAD, "kitchen.txt"))
    return client


def test_how_to_answer_makes_no_question_unanswerable(library: httpx.Client):
    message = (
        f"Hello! I am writing a paper about towers. {TALL} Please give the exact figure and your source."
    )
    reply = ask(library, message)
    assert reply["answer"].startswith("The belfry of Ghent is 91 metres tall [1].")
    assert reply["rewritten_query"] is None
    asked = library.get(f"/v1/queries/{reply['query_id']}").json()
    assert asked["query"] == message


def test_each_of_several_questions_is_answered(library: httpx.Client):
    answer = ask(library, f"{TALL} When was it finished? How long does green tea steep?")["answer"]
    assert all(said in answer for said in ("91 metres", "1380", "two minutes"))


def test_of_two_questions_the_one_is_answered_that_the_documents_answer(library: httpx.Client):
    answer = ask(library, f"{TALL} Who is the mayor of Lisbon?")["answer"]
    assert "91 metres" in answer
    assert "Lisbon" not in answer


def test_a_chat_model_reads_the_whole_message(asked: httpx.Client, provider: Provider):
    provider.cites([1])
    message = f"{TALL} Answer in German, please."
    ask(asked, message)
    assert provider.calls("chat")[-1].prompt.questions == [message]
    assert provider.asked()[TALL] == 1  # it is searched for without


@pytest.fixture
def asked(provider_server: Stack, provider: Provider) -> httpx.Client:
    talk.stored(provider_server.client, talk.text(BELFRY, "belfry.txt"))
    provider.forget_log()
    return provider_server.client
