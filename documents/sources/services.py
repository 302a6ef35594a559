"""The services of sources: making, changing, listing, starting and deleting them. No HTTP in here.

Whoever may change the documents of a collection sees its sources and starts them; who manages the collection
makes and changes them.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from documents.access import FULL, Access
from documents.library.collections import check_new_name, find_collection
from documents.models import Source, SourceItem
from documents.sources import queue
from documents.sources.kinds import MAX_SECRET_CHARS, check_config, encrypt
from knowlex.base.errors import Conflict, Duplicate, InvalidInput, NotFound
from knowlex.db.threads import with_retries
from knowlex.web.pagination import After, Page, paged

RUNNING = (Source.State.PENDING, Source.State.RUNNING)
RETRY_AFTER_S = 5


def create_source(
    *,
    access: Access,
    name: str,
    collection: str | None,
    kind: str,
    config: Mapping[str, Any],
    secret: str = "",
    every_minutes: int | None = None,
) -> Source:
    """Make a source; it runs first when it is told to, or its time has come, which is at once.

    secret: the password, or the secret access key. Raises InvalidInput, NotFound, Forbidden, Duplicate.
    """
    where = find_collection(collection, access=access)
    access.require("admin", where.id)
    source = Source(
        name=check_new_name(name),
        collection=where,
        kind=kind,
        config=check_config(kind, config),
        secret=encrypt(_check_secret(secret)),
        every_minutes=every_minutes,
        next_run_at=None if every_minutes is None else timezone.now(),
        brought_by=access.brings_as,
    )
    _save(source, lambda: source.save(force_insert=True))
    return get_source(str(source.id), access=FULL)


def get_source(name_or_id: str, *, access: Access) -> Source:
    """Return a source with its counts. Raises NotFound, also for one of a collection that the caller may not
    use, and Forbidden.
    """
    access.require("write")
    rows = Source.objects.with_states().select_related("collection").named(name_or_id)
    source = with_retries(rows.first)
    if source is None or not access.may_use(source.collection_id):
        raise NotFound(f"Source not found: {name_or_id}", details={"field": "source"})
    access.require("write", source.collection_id)
    return source


def list_sources(
    *, access: Access, page: Page, collection_id: UUID | None = None
) -> tuple[list[Source], After | None]:
    """Return one page of the sources that the caller may see; none to who may only read."""
    rows = Source.objects.allowed_to(access).with_states().select_related("collection")
    return with_retries(lambda: paged(rows.filter(collection=collection_id) if collection_id else rows, page))


def list_items(source: Source, *, page: Page, state: str = "") -> tuple[list[SourceItem], After | None]:
    """Return one page of the files that were seen at the last run, by their paths."""
    rows = SourceItem.objects.filter(source=source, path__isnull=False)
    return with_retries(lambda: paged(rows.filter(state=state) if state else rows, page))


def change_source(name_or_id: str, *, access: Access, changes: Mapping[str, Any]) -> Source:
    """Change any of `name`, `config`, `secret`, `every_minutes`; what is not given stays.

    Another place is another source: when the folder, the address or the bucket changes, so may all files, and
    the next run asks before it deletes them. Raises as `create_source`.
    """
    source = get_source(name_or_id, access=access)
    access.require("admin", source.collection_id)
    values: dict[str, Any] = {}
    if "name" in changes:
        values["name"] = source.name = check_new_name(changes["name"])
    if "config" in changes:
        values["config"] = check_config(source.kind, changes["config"])
    if "secret" in changes:
        values["secret"] = encrypt(_check_secret(changes["secret"]))
    if "every_minutes" in changes:
        values["every_minutes"] = changes["every_minutes"]
        values["next_run_at"] = None if changes["every_minutes"] is None else timezone.now()
    _save(source, lambda: Source.objects.filter(id=source.id).update(**values))
    return get_source(str(source.id), access=FULL)


def start_run(
    name_or_id: str, *, access: Access, dry_run: bool = False, confirm_deletions: bool = False
) -> Source:
    """Let workers run it. confirm_deletions: what the last run asked about may go, and nothing else.

    A run that waits or is under way already goes on. Raises NotFound, Forbidden, Conflict (then, where a dry
    run or a confirmation is wanted).
    """
    source = get_source(name_or_id, access=access)
    access.require("write", source.collection_id)
    begun: dict[str, Any] = {"state": Source.State.PENDING, "stage": "", "dry_run": dry_run, "error": ""}
    more = {"attempts": 0, **({"confirmed_at": timezone.now()} if confirm_deletions else {})}
    resting = Source.objects.filter(id=source.id).exclude(state__in=RUNNING)
    if with_retries(lambda: resting.update(**begun, **more)):
        for name, value in begun.items():
            setattr(source, name, value)
    elif dry_run or confirm_deletions:
        raise Conflict("A run of this source is under way.", retry_after_s=RETRY_AFTER_S)
    return source


def delete_source(name_or_id: str, *, access: Access) -> list[UUID]:
    """Delete a source; a run of it ends. Return the documents that came from it and from no other source,
    which stay: the caller may delete them. Raises NotFound, Forbidden.
    """
    source = get_source(name_or_id, access=access)
    access.require("admin", source.collection_id)
    return with_retries(lambda: _delete(source.id))


@transaction.atomic
def _delete(source_id: UUID) -> list[UUID]:
    Source.objects.select_for_update().filter(id=source_id).first()
    items = list(SourceItem.objects.filter(source=source_id).values_list("id", flat=True))
    documents = queue.find_orphaned(items)
    Source.objects.filter(id=source_id).delete()
    return documents


def _check_secret(secret: str) -> str:
    if len(secret) > MAX_SECRET_CHARS:
        raise InvalidInput(f"secret must be at most {MAX_SECRET_CHARS} characters.", field="secret")
    return secret


def _save(source: Source, write: Any) -> None:
    """Save; the unique constraint decides between equal names, also at the same time."""

    def attempt() -> None:
        with transaction.atomic():
            write()

    try:
        with_retries(attempt)
    except IntegrityError as exc:
        holder = Source.objects.filter(name=source.name).values_list("id", flat=True).first()
        if holder is None:
            raise NotFound("Collection not found.", details={"field": "collection"}) from exc
        if holder != source.id:
            raise Duplicate("A source with this name exists already.", details={"field": "name"}) from exc
