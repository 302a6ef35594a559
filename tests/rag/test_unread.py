"""An answer that cites a document with unread pages says so; one that only found it does not."""

from rag.api.answers import UnreadPages, unread_pages
from tests.rag.factory import passage, pipeline, question

WARNING = ("Pages 3-4 are unread: they are pictures.",)


async def test_only_cited_documents_with_unread_pages_are_named():
    said = "Fact number 1 is true [1]. Fact number 3 is true [3]. Fact number 1 is, again, true [1]."
    scan = passage(1, document_warnings=WARNING, unread_pages=(3, 4))
    uncited = passage(2, document_warnings=WARNING, unread_pages=(3, 4))
    answering, _ = pipeline(said, scan, uncited, passage(3))
    parts = unread_pages(await answering.answer(question()), UnreadPages)
    assert [(part.document_id, part.title) for part in parts] == [(scan.document_id, scan.title)]
    assert (parts[0].message, parts[0].unread_pages) == (WARNING[0], [3, 4])
