"""Many write the same words at the same moment: nobody deadlocks, and every word is counted as it stands."""

import subprocess
import sys

import pytest
from django.db import connection

from documents.models import Collection, Document
from embeddings.lexical import index
from embeddings.lexical.index import sparse_text
from embeddings.lexical.terms import hash_position, idf, lexemes, question_lexemes, term_weights
from embeddings.models import LexicalEntry
from embeddings.types import ClaimedChunk
from tests.support.environment import PROJECT

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")
WRITERS, BATCHES = 3, 9
# A worker's life: batches in, some documents out, some analysed by another language, rows folded.
WRITER = """
import os, random, sys, time
import django
django.setup()
from django.db import connection, transaction
from documents.access import FULL
from documents.models import Chunk, Collection, Document
from embeddings.ingest import documents
from embeddings.lexical import index
from embeddings.types import ClaimedChunk

seed, batches = int(sys.argv[1]), int(sys.argv[2])
connection.settings_dict["NAME"] = sys.argv[3]
rng = random.Random(seed)
vocabulary = [f"{a}{b}" for a in ("hemp", "rope", "ship", "sail") for b in "abcdefghijklmnopqrstuvwxyz"]
collection, longest, mine = Collection.objects.get(name="default"), 0.0, []
for n in range(batches):
    began = time.monotonic()
    with transaction.atomic():
        document = Document.objects.create(
            collection=collection, source="TEXT", original_filename="x.txt", size_bytes=1, file="none",
            page_count=1, chunk_count=20, checksum=os.urandom(32).hex(),
        )
        texts = [" ".join(rng.choices(vocabulary, k=60)) for _ in range(20)]
        chunks = [
            Chunk(document=document, chunk_index=n, content=text, start_char=0, end_char=1, token_count=1)
            for n, text in enumerate(texts)
        ]
        Chunk.objects.bulk_create(chunks)
        index.store_words([ClaimedChunk(chunk.id, chunk.content) for chunk in chunks])
    mine.append(document.id)
    if n % 3 == 1:
        documents.delete_document(mine.pop(rng.randrange(len(mine))), access=FULL)
    if n % 4 == 2:
        index._reindex(rng.choice(mine), rng.choice(["de", "fr", "en"]), True)
    if n % 5 == 3:
        index.fold_counts(since=0, min_new_rows=1)
    longest = max(longest, time.monotonic() - began)
print(longest)
"""


def test_processes_that_write_delete_move_and_fold_leave_true_counts():
    Collection.objects.get_or_create(name="default")
    name = connection.settings_dict["NAME"]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(n), str(BATCHES), str(name)],
            cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(WRITERS)
    ]  # fmt: skip
    ended = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * WRITERS, ended
    assert all("deadlock" not in said for _, said in ended)
    assert wrong_counts() == []
    assert LexicalEntry.objects.count() == 20 * Document.objects.count() > 0


def wrong_counts() -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH held AS (
                SELECT lexeme, count(*) AS n FROM embeddings_lexicalentry e,
                    unnest(tsvector_to_array(e.lexemes) || ARRAY['']) AS lexeme GROUP BY 1
            ), counted AS (SELECT lexeme, sum(chunks) AS n FROM embeddings_lexemecount GROUP BY 1)
            SELECT * FROM held FULL JOIN counted USING (lexeme)
            WHERE coalesce(held.n, 0) <> coalesce(counted.n, 0) LIMIT 5
            """
        )
        return cursor.fetchall()


def test_a_chunk_of_any_size_and_one_without_words_can_be_stored(add_document):
    letters = [chr(0x10400 + n) for n in range(40)]  # four bytes each
    huge = " ".join("".join(letters[n // 40**place % 40] for place in range(4)) * 16 for n in range(20_000))
    document = Document.objects.get(pk=add_document([huge, "of the and", "?!", "漢" * 3]))
    index.store_words([ClaimedChunk(chunk.id, chunk.content) for chunk in document.chunks.all()])
    assert LexicalEntry.objects.count() == 4
    assert wrong_counts() == []


def test_the_database_scores_as_plain_bm25_does(add_document):
    """To the last digit that is stored: the sum over the question's words of idf times the weight of tf."""
    texts = [
        "The normans built castles, and castles of stone",
        "castles " * 40 + "of wood",
        "Wood and stone: 1,000 ships, foo_bar, E-2021/45",
        "of the and",
        "東京タワー near the wood",
        " ".join(f"word{n}" for n in range(2000)),
    ]
    document = Document.objects.get(pk=add_document(texts))
    chunks = list(document.chunks.order_by("chunk_index"))
    index.store_words([ClaimedChunk(chunk.id, chunk.content) for chunk in chunks])
    for question in (
        "castles of stone",
        "wood 2021 東京タワー",
        "word7 word1999 word7",
        "nothing known",
        "the",
    ):
        asked = question_lexemes(question, [""])[""]
        worth = {word: idf(sum(word in lexemes(text) for text in texts), len(texts)) for word in asked}
        expected = {
            chunk.id: sum(
                weight * term_weights([*lexemes(chunk.content), "store"]).get(hash_position(word), 0.0)
                for word, weight in worth.items()
            )
            for chunk in chunks
        }
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT chunk_id, -(weights <#> %s::sparsevec) FROM embeddings_lexicalentry",
                [sparse_text({hash_position(word): weight for word, weight in worth.items()})],
            )
            found = dict(cursor.fetchall())
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
