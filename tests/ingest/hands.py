"""Knowlex's own services, called in a process that belongs to a stack: JSON lines in, JSON lines out.

`python -m tests.ingest.hands` with the stack's environment. Tests speak to it by the fixture `engine`.
"""

import asyncio
import base64
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

import django

django.setup()

from django.conf import settings

from documents.access.scopes import FULL
from documents.ingest import jobs
from documents.library.collections import find_collection
from documents.library.storage import StagedUpload, Staging
from documents.models import Collection
from documents.types import ChunkingSettings
from embeddings import tasks
from embeddings.work import ingestion
from knowlex.base.errors import BrokerUnavailable, KnowlexError


def _staged(stack: ExitStack, data: str) -> StagedUpload:
    staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
    staging.write(base64.b64decode(data))
    return staging.finish()


def _new(stack: ExitStack, fields: dict[str, Any]) -> jobs.NewDocument:
    data = fields.pop("data", None)
    upload = None if data is None else _staged(stack, data)
    return jobs.NewDocument(upload=upload, **fields)


def _chunking(fields: dict[str, Any]) -> ChunkingSettings:
    return replace(settings.CHUNKING, **fields)


def _tell(count: int) -> None:
    try:
        tasks.enqueue_ingest(count)
    except BrokerUnavailable:
        sys.stderr.write("no broker\n")


def create(documents: list[dict[str, Any]], chunking: dict[str, Any], collection: str | None) -> Any:
    with ExitStack() as stack:
        job = jobs.create_job(
            access=FULL,
            collection=find_collection(collection, access=FULL),
            documents=[_new(stack, fields) for fields in documents],
            chunking=_chunking(chunking),
        )
    _tell(len(documents))
    return job.id


def replace_with(document: str, new: dict[str, Any]) -> Any:
    with ExitStack() as stack:
        job = jobs.replace_document(UUID(document), access=FULL, new=_new(stack, new))
    if job is None:
        return None
    _tell(1)
    return job.id


def retry_job(job: str) -> int:
    count = ingestion.retry_job(UUID(job), access=FULL)
    _tell(count)
    return count


def retry_document(document: str) -> int:
    count = ingestion.retry_document(UUID(document), access=FULL)
    _tell(count)
    return count


def report(job: str, wait_s: float) -> Any:
    return asdict(_runner.run(ingestion.wait_for_job(UUID(job), access=FULL, wait_s=wait_s)))


def list_jobs(**options: Any) -> Any:
    page, after = _runner.run(ingestion.job_list(access=FULL, **options))
    return [asdict(job) for job in page], after


def delete(document: str) -> Any:
    return asdict(ingestion.delete_document(UUID(document), access=FULL))


def make_collection(name: str) -> Any:
    return Collection.objects.create(name=name).id


def delete_collection(collection: str) -> Any:
    return asdict(ingestion.delete_collection(UUID(collection), access=FULL))


VERBS = {
    function.__name__: function
    for function in (
        create, replace_with, retry_job, retry_document, report, list_jobs, delete, make_collection,
        delete_collection,
    )
}  # fmt: skip
_runner = asyncio.Runner()


def main() -> None:
    for line in sys.stdin:
        call = json.loads(line)
        try:
            answer = {"result": VERBS[call.pop("verb")](**call)}
        except KnowlexError as exc:
            answer = {"error": exc.code, "message": exc.message}
        sys.stdout.write(json.dumps(answer, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
