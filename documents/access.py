"""Access: what a caller may do, and with which collections. Every service takes one as `access`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Self
from uuid import UUID

from knowlex.base.errors import Forbidden, Unauthorized

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")  # each includes those before it
NOBODY = "nobody:"  # among no document's readers
ROLE_NAMES: Mapping[Scope, str] = MappingProxyType({"read": "read", "write": "write", "admin": "manage"})


@dataclass(frozen=True, slots=True)
class Access:
    """A caller's rights, whether it sent an API key or is logged in.

    scope: the greatest allowed anywhere. collection_ids: None for all, those to come included.
    key_id: of the API key; None where none was sent. user_id: of the account that is logged in, or that the
    key belongs to. roles: what an account may do in each of its collections; empty where `scope` holds in all
    of them. is_staff: the account may make collections. principals: the names by which the permissions of
    documents know the caller, such as "user:ann" and "group:lawyers"; only of accounts and their keys.
    is_superuser: the account, or the key's account, is the operator's.
    """

    scope: Scope = "read"
    collection_ids: tuple[UUID, ...] | None = ()
    key_id: UUID | None = None
    user_id: int | None = None
    roles: Mapping[UUID, Scope] = field(default_factory=dict, hash=False)
    is_staff: bool = False
    principals: tuple[str, ...] = ()
    is_superuser: bool = False

    def may(self, scope: Scope, collection_id: UUID | None = None) -> bool:
        """Tell if the caller may do this in the collection; without one, if it may do it anywhere."""
        if collection_id is None:
            return includes(self.scope, scope)
        return self.may_use(collection_id) and includes(self.roles.get(collection_id, self.scope), scope)

    def require(self, scope: Scope, collection_id: UUID | None = None) -> None:
        """Raise Forbidden unless the caller may do this, in the collection if one is given."""
        if not self.may(scope):
            if self.user_id is not None and self.key_id is None:
                raise Forbidden(f"Your account may not do this: it has the role {ROLE_NAMES[scope]} nowhere.")
            raise Forbidden(f"This needs an API key with the scope {scope}; yours has {self.scope}.")
        if collection_id is not None:
            self.require_collection(collection_id)
            if not self.may(scope, collection_id):
                role = ROLE_NAMES[self.roles.get(collection_id, self.scope)]
                raise Forbidden(
                    f"This needs the role {ROLE_NAMES[scope]} in the collection; yours is {role}."
                )

    def may_use(self, collection_id: UUID) -> bool:
        return self.collection_ids is None or collection_id in self.collection_ids

    def require_collection(self, collection_id: UUID, *, field: str = "collection") -> None:
        """Raise Forbidden unless the caller may use this collection. field: of the request that names it."""
        if not self.may_use(collection_id):
            raise Forbidden("You don't have access to this collection", details={"field": field})

    @property
    def allowed(self) -> list[UUID] | None:
        """The parameter for `(%(allowed)s::uuid[] IS NULL OR collection_id = ANY(%(allowed)s))`."""
        return None if self.collection_ids is None else list(self.collection_ids)

    @property
    def sees_all(self) -> bool:
        """Tell if no permissions of documents concern the caller: no keys, superusers, admin keys."""
        return self.is_superuser or (self.user_id is None and self.scope == "admin")

    @property
    def brings_as(self) -> str:
        """Return the principal that may read whatever the caller brings in; "" where nobody is known."""
        if self.user_id is not None:
            return f"account:{self.user_id}"
        return "" if self.key_id is None else f"key:{self.key_id}"

    @property
    def reads_as(self) -> list[str] | None:
        """Return the parameter for `condition_on_readers`, None for a caller who reads everything."""
        if self.sees_all:
            return None
        return [*self.principals, self.brings_as or NOBODY]

    def limited_to(self, scope: Scope) -> Self:
        """Return the same access without the collections in which this may not be done."""
        if self.collection_ids is None:
            return self
        ids = tuple(id_ for id_ in self.collection_ids if self.may(scope, id_))
        return replace(self, collection_ids=ids)


def condition_on_readers(column: str) -> str:
    """Return SQL for the parameter `principals`, an access's `reads_as`. column: `readers` of a document."""
    return f"(%(principals)s::text[] IS NULL OR {column} IS NULL OR {column} && %(principals)s::text[])"


FULL = Access("admin", None)  # commands, the admin, and the API where no key is required


def includes(scope: Scope, other: Scope) -> bool:
    """Tell if whoever has `scope` may do what `other` allows."""
    return SCOPES.index(scope) >= SCOPES.index(other)


def lesser(one: Scope, other: Scope) -> Scope:
    return SCOPES[min(SCOPES.index(one), SCOPES.index(other))]


def greater(one: Scope, other: Scope) -> Scope:
    return SCOPES[max(SCOPES.index(one), SCOPES.index(other))]


def access_of(request: Any) -> Access:
    """Return the access that the middleware gave the request. Raises Unauthorized where it did not run."""
    access = getattr(getattr(request, "_request", request), "access", None)
    if not isinstance(access, Access):
        raise Unauthorized("Invalid or expired API key")
    return access
