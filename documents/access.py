"""Access: what a caller may do, and with which collections. Every service takes one as `access`."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from knowlex.base.errors import Forbidden, Unauthorized

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")  # each includes those before it


@dataclass(frozen=True, slots=True)
class Access:
    """A caller's rights. scope: the greatest allowed. collection_ids: None for all, those to come included.

    key_id: of the API key; None where no key is required.
    """

    scope: Scope = "read"
    collection_ids: tuple[UUID, ...] | None = ()
    key_id: UUID | None = None

    def require(self, scope: Scope) -> None:
        """Raise Forbidden if the key's scope does not include this one."""
        if SCOPES.index(self.scope) < SCOPES.index(scope):
            raise Forbidden(f"This needs an API key with the scope {scope}; yours has {self.scope}.")

    def may_use(self, collection_id: UUID) -> bool:
        return self.collection_ids is None or collection_id in self.collection_ids

    def require_collection(self, collection_id: UUID, *, field: str = "collection") -> None:
        """Raise Forbidden unless the caller may use this collection. field: of the request that names it."""
        if not self.may_use(collection_id):
            raise Forbidden("You don't have access to this collection.", details={"field": field})

    @property
    def allowed(self) -> list[UUID] | None:
        """The parameter for `(%(allowed)s::uuid[] IS NULL OR collection_id = ANY(%(allowed)s))`."""
        return None if self.collection_ids is None else list(self.collection_ids)


FULL = Access("admin", None)  # commands, the admin, and the API where no key is required


def access_of(request: Any) -> Access:
    """Return the access that the middleware gave the request. Raises Unauthorized where it did not run."""
    access = getattr(getattr(request, "_request", request), "access", None)
    if not isinstance(access, Access):
        raise Unauthorized("Invalid or expired API key")
    return access
