"""The counts of words stay true, whoever writes, deletes or folds."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models import Sum

from documents.access import FULL
from documents.models import Chunk, Document
from embeddings import services
from embeddings.lexical import index
from embeddings.lexical import index as lexeme_counts
from embeddings.lexical.terms import lexemes
from embeddings.models import LexemeCount, LexicalEntry
from knowlex.base.ids import new_id
from knowlex.db.threads import execute

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


def counted() -> Counter[str]:
    sums = LexemeCount.objects.values_list("lexeme").annotate(n=Sum("chunks")).filter(n__gt=0)
    return Counter(dict(sums))


def true_counts() -> Counter[str]:
    counts: Counter[str] = Counter()
    texts = Chunk.objects.values_list("content", "document__title", "document__original_filename")
    for content, *names in texts:
        counts.update({"", *lexemes(content), *lexemes(" ".join(names))})
    return counts


def embed_all() -> None:
    services.request_embeddings(access=FULL)
    while services.embed_batch(new_id()):
        pass


def test_words_are_counted_with_the_vectors_and_uncounted_with_the_document(add_document):
    first = add_document(["red ships sail", "blue ships", "the of and"])
    add_document(["red houses, houses", "図書館の歴史"])
    embed_all()
    assert LexicalEntry.objects.count() == 5
    assert counted() == true_counts()
    Document.objects.filter(pk=first).delete()
    assert counted() == true_counts()
    assert counted()["ship"] == 0


def test_folding_keeps_every_sum_and_leaves_one_row_a_word(add_document):
    documents = [add_document([f"ships and water {n}", f"water {n}"]) for n in range(6)]
    for document in documents:
        services.request_embeddings(document, access=FULL)
        services.embed_batch(new_id())
    Document.objects.filter(pk=documents[0]).delete()
    newest = lexeme_counts.fold_counts(since=0, min_new_rows=1)
    assert counted() == true_counts()
    rows = LexemeCount.objects.values_list("lexeme", flat=True)
    assert len(set(rows)) == len(rows)
    assert lexeme_counts.fold_counts(since=newest, min_new_rows=1) == newest


def test_few_new_rows_are_not_worth_folding(add_document):
    add_document(["ships and water"])
    embed_all()
    assert lexeme_counts.fold_counts(since=0) == 0


def test_folding_while_others_write_and_read_is_never_seen(add_document):
    """At any moment 'water' is counted once for each stored chunk that holds it."""
    for n in range(10):
        add_document([f"water {n} {m}" for m in range(20)])
    services.request_embeddings(access=FULL)

    def in_thread(work):
        try:
            return work()
        finally:
            connection.close()

    def consistent() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT (SELECT count(*) FROM embeddings_lexicalentry) = "
                "(SELECT coalesce(sum(chunks), 0) FROM embeddings_lexemecount WHERE lexeme = 'water')"
            )
            return bool(cursor.fetchone()[0])

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(in_thread, lambda: services.embed_batch(new_id())) for _ in range(10)]
        folding = [
            pool.submit(in_thread, lambda: lexeme_counts.fold_counts(since=0, min_new_rows=1))
            for _ in range(20)
        ]
        seen = [consistent() for _ in range(50)]
        for future in [*writing, *folding]:
            future.result()
    assert all(seen)
    assert counted() == true_counts()


def test_words_of_the_pending_list_are_taken_into_the_index(add_document):
    """It is emptied by hand in between, and that tells how many pages it had."""
    empty_it = "SELECT gin_clean_pending_list('lexical_by_lexeme') > 0"
    add_document(["red ships sail", "blue ships"])
    embed_all()
    assert execute(empty_it) == [(True,)]
    add_document(["green ships sail"])
    embed_all()
    index.index_pending()
    assert execute(empty_it) == [(False,)]
