"""`manage.py embed_sentences`: the vectors of sentences for chunks that an earlier release stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowlex.base.errors import KnowlexError

TELL_EVERY = 500


class Command(BaseCommand):
    help = (
        "Makes the vectors of sentences, which the reranker `sentence` ranks by, for chunks that have none. "
        "Search and ingestion go on meanwhile; if it is broken off, start it again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        from embeddings.vectors import backfill

        try:
            done, told, wanted = 0, 0, backfill.lacking()
            for count in backfill.fill():
                done += count
                if done - told >= TELL_EVERY:
                    told = done
                    self.stdout.write(f"{done} of {wanted} chunks")
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(f"{done} chunks were given the vectors of their sentences.")
