"""The services of collections: creating, finding, listing and changing them. No HTTP in here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from documents.access import FULL, Access
from documents.accounts.sessions import forget_account
from documents.library.collection_settings import (
    ChunkingFields,
    CollectionFields,
    check_settings,
    default_chunking,
    get_embedding_model,
    merge_settings,
    read_chunking,
    to_client_names,
)
from documents.models import DEFAULT_COLLECTION, Collection, CollectionMember
from documents.text.characters import is_control_character
from documents.types import ChunkingSettings
from knowlex.base.errors import Duplicate, Forbidden, InvalidInput, NotFound
from knowlex.db.threads import with_retries
from knowlex.web.fields import check_storable, is_blank
from knowlex.web.pagination import After, Page, paged

MAX_NAME_CHARS = 255


def create_collection(
    *, access: Access, name: str, description: str = "", settings: Mapping[str, Any] | None = None
) -> Collection:
    """Create a collection; it keeps the default chunking of the server where `settings` names none.

    An account that has not all collections will manage this one.
    Raises Duplicate, InvalidInput (`name`, or the setting, say `settings.chunk_size`), Forbidden.
    """
    access.require("write")
    _check_may_create(access)
    collection = Collection(name=check_new_name(name), description=description)
    given = check_settings({} if settings is None else settings, CollectionFields)
    collection.settings = _complete_settings(default_chunking(), given)
    _save(collection, lambda: _insert(collection, access))
    return get_collection(collection.id, access=FULL)


def get_collection(collection_id: UUID, *, access: Access) -> Collection:
    """Return a collection with its counts. Raises NotFound, Forbidden."""
    access.require_collection(collection_id)
    collection = with_retries(
        Collection.objects.with_counts(access).filter(id=collection_id).first, reader=access.reads_as
    )
    if collection is None:
        raise NotFound(f"Collection not found: {collection_id}")
    return collection


def find_collection(name_or_id: str | None, *, access: Access) -> Collection:
    """Return the collection with this name or id; None means `default`.

    Raises NotFound, Forbidden (not the caller's to use), InvalidInput (empty).
    """
    if name_or_id in (None, DEFAULT_COLLECTION):
        collection = get_default_collection()
    else:
        collection = _find_by_name(str(name_or_id))
    access.require_collection(collection.id)
    return collection


def find_collections(names_or_ids: Sequence[str], *, access: Access) -> list[Collection]:
    """Return several collections, in their order and none twice, in one statement however many."""
    for text in names_or_ids:
        _check_name(text)
    if DEFAULT_COLLECTION in names_or_ids:
        get_default_collection()
    rows = with_retries(lambda: list(Collection.objects.named_any(names_or_ids)))
    by_name = {str(row.id): row for row in rows} | {row.name: row for row in rows}
    chosen = [by_name.get(text) or by_name.get(_normalize_id(text)) for text in names_or_ids]
    if None in chosen:
        raise NotFound("Collection not found.", details={"field": "collection"})
    for row in rows:
        access.require_collection(row.id)
    return list(dict.fromkeys(filter(None, chosen)))


def get_default_collection() -> Collection:
    """Return the default collection; it always exists: one that was deleted is created again."""
    return with_retries(lambda: Collection.objects.get_or_create(name=DEFAULT_COLLECTION)[0])


def list_collections(*, access: Access, page: Page, q: str = "") -> tuple[list[Collection], After | None]:
    """Return one page of the collections that the caller may use, with their counts, in one statement.

    q: text that name or description must contain, whatever the case.
    """
    rows = Collection.objects.allowed_to(access).with_counts(access)
    return with_retries(lambda: paged(rows.containing(q) if q else rows, page), reader=access.reads_as)


def list_by_name(*, access: Access, limit: int) -> list[Collection]:
    """Return the first collections that the caller may use, without their counts."""
    rows = Collection.objects.allowed_to(access).only("id", "name", "created_at").order_by("name", "id")
    return with_retries(lambda: list(rows[:limit]))


def change_collection(collection_id: UUID, *, access: Access, changes: Mapping[str, Any]) -> Collection:
    """Change any of `name`, `description`, `settings`; settings that are not given stay, and so do documents.

    Raises Duplicate, InvalidInput, NotFound, Forbidden (also for the name and settings of `default`).
    """
    access.require("admin", collection_id)
    collection = get_collection(collection_id, access=access)
    if "name" in changes and (name := check_new_name(changes["name"])) != collection.name:
        _refuse_default(collection, "cannot be renamed")
        collection.name = name
    if "settings" in changes:
        _refuse_default(collection, "has no settings of its own: it follows the server's")
        given = check_settings(changes["settings"], CollectionFields)
        own = _complete_settings(chunking_settings(collection), given)
        collection.settings = {**collection.settings, **own}
    collection.description = changes.get("description", collection.description)
    values = {name: getattr(collection, name) for name in ("name", "description", "settings")}
    _save(collection, lambda: Collection.objects.filter(id=collection_id).update(**values))
    return get_collection(collection_id, access=access)  # or it was deleted meanwhile


def _check_may_create(access: Access) -> None:
    if access.collection_ids is None or access.is_staff:
        return
    if access.user_id is None:
        raise Forbidden("An API key that is bound to collections cannot make new ones.")
    raise Forbidden("Only accounts of the staff make new collections.")


@transaction.atomic
def _insert(collection: Collection, access: Access) -> None:
    collection.save(force_insert=True)
    if access.collection_ids is not None:
        role = CollectionMember.Role.MANAGE
        CollectionMember.objects.create(collection=collection, user_id=access.user_id, role=role)
        transaction.on_commit(lambda: forget_account(access.user_id))


def chunking_settings(collection: Collection, overrides: Mapping[str, Any] | None = None) -> ChunkingSettings:
    """Return how a collection's documents are split: by the job's settings, else its own, else the server's.

    Raises InvalidInput naming the setting and its limit.
    """
    base = read_chunking(collection.settings)
    return merge_settings(base, check_settings(overrides or {}, ChunkingFields))


def effective_settings(collection: Collection) -> dict[str, Any]:
    """Return all settings by name, those that the collection takes from the server included."""
    return {
        "embedding_model": get_embedding_model(),
        **to_client_names(chunking_settings(collection)),
        "default_permissions": collection.settings.get("default_permissions", {}),
    }


def check_new_name(name: str) -> str:
    """Return the name without white space around it. Raises InvalidInput.

    A name that looked like an id could be taken for one where either is accepted.
    """
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME_CHARS or is_blank(name):
        raise InvalidInput(f"name must be non-blank and at most {MAX_NAME_CHARS} characters.", field="name")
    if any(map(is_control_character, name)):
        raise InvalidInput("name must not hold control characters.", field="name")
    if _is_uuid(name):
        raise InvalidInput("name must not look like a UUID.", field="name")
    return name


def _find_by_name(name_or_id: str) -> Collection:
    _check_name(name_or_id)
    collection = with_retries(Collection.objects.named(name_or_id).first)
    if collection is None:
        raise NotFound("Collection not found.", details={"field": "collection"})
    return collection


def _check_name(name_or_id: str) -> None:
    if not name_or_id:
        raise InvalidInput("collection must not be empty.", field="collection")
    check_storable(name_or_id, "collection")


def _normalize_id(text: str) -> str:
    """Return an id as it is stored, however it was written."""
    return str(UUID(text)) if _is_uuid(text) else text


def _complete_settings(base: ChunkingSettings, given: dict[str, Any]) -> dict[str, Any]:
    return {**given, **to_client_names(merge_settings(base, given))}


def _refuse_default(collection: Collection, words: str) -> None:
    if collection.name == DEFAULT_COLLECTION:
        raise Forbidden(f"The collection {DEFAULT_COLLECTION} {words}.")


def _save(collection: Collection, write: Callable[[], object]) -> None:
    """Save; the unique constraint decides between equal names, also at the same time."""

    def attempt() -> None:
        with transaction.atomic():
            write()

    try:
        with_retries(attempt)
    except IntegrityError as exc:
        holder = Collection.objects.filter(name=collection.name).values_list("id", flat=True).first()
        if holder != collection.id:  # else our own earlier COMMIT arrived, only its answer was lost
            details = {"field": "name", "collectionId": str(holder)}
            raise Duplicate("A collection with this name exists already.", details=details) from exc


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
