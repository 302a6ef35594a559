"""Places that stay in sync with a collection, what was last seen there, and the queries about them."""

from typing import Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from documents.access import Access
from knowlex.base.ids import new_id


class SourceQuerySet(models.QuerySet["Source"]):
    def named(self, name_or_id: str) -> Self:
        """Select the source with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)

    def allowed_to(self, access: Access) -> Self:
        """Select the sources of the collections whose documents the caller may change."""
        if not access.may("write"):
            return self.none()
        allowed = access.limited_to("write").allowed
        return self if allowed is None else self.filter(collection_id__in=allowed)

    def with_states(self) -> Self:
        """Add `files`, `waiting`, `refused`: of what was last seen, all; being read; not taken or failed."""
        items = SourceItem.objects.filter(source=models.OuterRef("pk"), path__isnull=False)
        open_items = items.filter(item__status__in=("pending", "processing"))
        refused = items.filter(state__in=(SourceItem.State.SKIPPED, SourceItem.State.FAILED))
        counted = {"files": items, "waiting": open_items, "refused": refused}
        return self.annotate(
            **{
                name: models.functions.Coalesce(
                    models.Subquery(
                        rows.order_by().values("source").annotate(n=models.Count("*")).values("n")
                    ),
                    0,
                )
                for name, rows in counted.items()
            }
        )


class Source(models.Model):
    """A folder, a WebDAV folder or a bucket whose files a collection has as documents.

    config: what documents.sources.kinds checks; the secret is kept apart, encrypted. every_minutes: null for
    a source that runs when it is told to. run: number of the latest run; each file says in which it was seen.
    stage: the step of a run that is under way, "" else. counts: of the latest run, as it goes on.
    confirmed_at: when somebody said that what was gone then may be deleted, once. lease and leased_until: as
    in IngestItem. attempts: how often a worker took it since something was recorded.
    brought_by: as in Document, of what it brings.
    """

    class Kind(models.TextChoices):
        FOLDER = "folder", "a folder of the server"
        WEBDAV = "webdav", "WebDAV (Nextcloud and others)"
        S3 = "s3", "a bucket of S3"

    class State(models.TextChoices):
        IDLE = "idle", "not run yet"
        PENDING = "pending", "waits for a worker"
        RUNNING = "running", "is running"
        COMPLETED = "completed", "in sync"
        ASKING = "needs_confirmation", "asks whether to delete"
        FAILED = "failed", "failed"

    class Stage(models.TextChoices):
        LISTING = "listing"
        MATCHING = "matching"
        TAKING = "taking"
        WAITING = "waiting"
        REMOVING = "removing"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    collection = models.ForeignKey(
        "Collection", models.DO_NOTHING, related_name="sources", db_constraint=False
    )
    name = models.CharField(max_length=255, unique=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    config = models.JSONField(default=dict)
    secret = models.TextField(blank=True, default="")
    every_minutes = models.IntegerField(null=True, blank=True)
    state = models.CharField(max_length=20, choices=State.choices, default=State.IDLE)
    stage = models.CharField(max_length=16, choices=Stage.choices, blank=True, default="")
    run = models.BigIntegerField(default=0)
    dry_run = models.BooleanField(default=False)
    counts = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    error = models.TextField(blank=True, default="")
    confirmed_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    taken_at = models.DateTimeField(null=True)
    next_run_at = models.DateTimeField(null=True)
    brought_by = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SourceItem(models.Model):
    """A file of a source, or (path null) a document of the source whose file has other bytes by now.

    version: tells the bytes that `document` was made of apart from others: size and times, or an etag; "" for
    what has to be looked at again. checksum, size_bytes: of these bytes. listed_…: the same as the latest
    list has it, in run `listed_in`. step: how far this run is with the file.
    document: that holds these bytes; its id is known before it is stored. owned: the document came from a
    source, and goes when no file of a source has its bytes any more. item: the latest work on it; null where
    that failed for now, and the next run is to try again.
    gone_at: when the run ended that missed the file, and asked what to do.
    """

    class State(models.TextChoices):
        NEW = "new", "not looked at yet"
        TAKEN = "taken", "taken"
        PRESENT = "present", "was there already, not from a source"
        SKIPPED = "skipped", "not taken"
        FAILED = "failed", "could not be read"

    class Step(models.TextChoices):
        NONE = ""
        CANDIDATE = "candidate"  # as large as a document that is there: it may be that one, moved
        LISTED = "listed"
        MATCHED = "matched"  # of a dry run: this one is gone, but another file has its bytes
        DONE = "done"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.ForeignKey(Source, models.DO_NOTHING, related_name="items", db_constraint=False)
    path = models.TextField(null=True)  # noqa: DJ001 - "" would be a path, and unique
    size_bytes = models.BigIntegerField(default=0)
    version = models.TextField(blank=True, default="")
    checksum = models.CharField(max_length=64, blank=True, default="")
    document = models.UUIDField(null=True)
    item = models.ForeignKey(
        "IngestItem", models.DO_NOTHING, related_name="+", db_constraint=False, null=True, db_index=True
    )
    owned = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=State.choices, default=State.NEW)
    reason = models.TextField(blank=True, default="")
    listed_version = models.TextField(blank=True, default="")
    listed_size = models.BigIntegerField(default=0)
    listed_in = models.BigIntegerField(default=0)
    step = models.CharField(max_length=9, choices=Step.choices, blank=True, default="")
    gone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["source", "path"], name="source_items_one_per_path")]
        indexes = [
            models.Index(fields=["document"], name="source_items_by_document"),
            models.Index(fields=["checksum"], name="source_items_by_checksum"),
            models.Index(fields=["source", "step", "path"], name="source_items_by_step"),
        ]

    def __str__(self) -> str:
        return self.path or "a former file"
