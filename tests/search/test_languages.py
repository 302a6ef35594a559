"""A question in another language than the documents: its words find nothing good and must not decide."""

import pytest

from tests.rag.conftest import AddDocument, add_document, embedder  # noqa: F401
from tests.rag.test_hybrid import retrieve

pytestmark = pytest.mark.django_db(transaction=True)

ONLY_BERLIN = "Berlin Berlin Berlin."


def test_one_shared_name_does_not_outrank_the_meaning(add_document: AddDocument):  # noqa: F811
    add_document("The bridge carries loads.", ONLY_BERLIN, language="en")
    found = retrieve("Welche Lasten trägt die große steinerne Brücke nahe Berlin wirklich täglich?")
    berlin = next(p for p in found.passages if p.content == ONLY_BERLIN)
    assert berlin.sparse_rank == 1
    assert (
        berlin.fused_score < 0.5 / 61 + 0.5 / 61 / 2
    )  # its place in the list of words weighs less than half


def test_words_are_analysed_by_the_language_of_each_document(add_document: AddDocument):  # noqa: F811
    add_document("Die Häuser stehen am Fluss.", language="de")
    add_document("Cats sleep all day.", language="en")
    found = retrieve("Welches Haus steht dort?", mode="sparse")
    assert [p.language for p in found.passages] == ["de"]
    assert {"haus", "steht"} <= set(found.idf)


def test_a_new_language_is_noticed_at_once(add_document: AddDocument):  # noqa: F811
    add_document("Cats sleep all day.", language="en")
    assert retrieve("Haus", mode="sparse").passages == ()
    add_document("Die Häuser stehen am Fluss.", language="de")
    assert len(retrieve("Haus", mode="sparse").passages) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Häuser stehen am",
        "die HÄUSER  stehen",
        "user stehen am Fl",
        "läuft's gut, oder",
        "東京タワー",
        "京タ",
        "नमस्ते दुनिया",
        "ते दुनि",
    ],
)
def test_a_literal_string_is_found_whatever_the_language(
    add_document: AddDocument,  # noqa: F811
    text: str,
):
    add_document("Die Häuser stehen am Fluss. Wie läuft's gut, oder?", language="de")
    add_document("昨日、東京タワーに行きました。", language="ja")
    add_document("सब को नमस्ते दुनिया कहो।", language="hi")
    add_document("Cats sleep all day.", language="en")
    assert len(retrieve(text, mode="exact").passages) == 1
