"""`manage.py embed_sentences`: the vectors of sentences for chunks that an earlier release stored."""

from typing import Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

TELL_EVERY = 500


class Command(ProjectCommand):
    help = (
        "Makes the vectors of sentences, which the reranker `sentence` ranks by, for chunks that have none. "
        "Search and ingestion go on meanwhile; if it is broken off, start it again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        from embeddings.vectors import sentences

        try:
            done, reported, wanted = 0, 0, sentences.count_without_sentences()
            for count in sentences.embed_missing_sentences():
                done += count
                if done - reported >= TELL_EVERY:
                    reported = done
                    self.stdout.write(f"{done} of {wanted} chunks")
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(f"{done} chunks were given the vectors of their sentences.")
