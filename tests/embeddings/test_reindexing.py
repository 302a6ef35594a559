"""Documents that were stored before their language was known find their words again."""

import pytest
from django.core.management import call_command
from django.db.models import Sum

from documents.access import FULL
from documents.library.collection_statistics import stored_languages
from documents.models import Document, Page
from embeddings import services
from embeddings.lexical.index import reindex
from embeddings.lexical.terms import lexemes
from embeddings.models import LexemeCount, LexicalEntry
from knowlex.base.ids import new_id

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")
GERMAN = "Die Häuser der alten Stadt liegen an einem Fluss, und viele Menschen kommen jedes Jahr hierher."
ENGLISH = "The houses of the old town lie on a river, and many people come here every year."


@pytest.fixture
def stored(add_document):
    """A German and an English document, stored when nobody told languages."""
    ids = [add_document([text, f"{text} Kenia"]) for text in (GERMAN, ENGLISH)]
    for id_, text in zip(ids, (GERMAN, ENGLISH), strict=True):
        Page.objects.create(document_id=id_, number=1, start_char=0, text=text, read_by="text")
    services.request_embeddings(access=FULL)
    while services.embed_batch(new_id()):
        pass
    return ids


def words_of(document_id) -> set[str]:
    rows = LexicalEntry.objects.filter(chunk__document_id=document_id).values_list("lexemes", flat=True)
    return {word.split("'")[1] for row in rows for word in row.split()}


def count_of(word: str) -> int:
    return LexemeCount.objects.filter(lexeme=word).aggregate(n=Sum("chunks", default=0))["n"]


def test_words_are_analysed_by_the_language_that_is_told(stored):
    german, english = stored
    assert "die" in words_of(german)
    before = words_of(english)

    done = {one.document_id: one for one in reindex()}

    assert (done[german].language, done[german].chunks) == ("de", 2)
    assert (done[english].language, done[english].chunks) == ("en", 0)  # the same analysis as before
    assert words_of(german) == {*lexemes(GERMAN, "de"), "kenia", "stored"}  # and its file's name
    assert words_of(english) == before
    assert (count_of("die"), count_of("haus"), count_of("kenia"), count_of("")) == (0, 2, 2, 4)
    assert stored_languages() == ["de", "en"]
    assert [one.chunks for one in reindex()] == [0, 0]


def test_the_command_says_what_it_did_and_analyses_everything_when_asked(stored, capsys):
    call_command("reindex_words", "--collection", "default")
    assert capsys.readouterr().out == "2 documents (de 1, en 1); 2 chunks analysed anew.\n"
    call_command("reindex_words", "--all")
    assert "4 chunks analysed anew" in capsys.readouterr().out


def test_what_is_embedded_later_is_analysed_by_its_documents_language(add_document):
    document = add_document([GERMAN])
    Document.objects.filter(pk=document).update(language="de")
    services.request_embeddings(access=FULL)
    services.embed_batch(new_id())
    assert words_of(document) == {*lexemes(GERMAN, "de"), "stored"}
