"""What an account may do, made of its memberships and those of its groups."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from documents.access import Access, Scope, greater, lesser

SCOPE_OF_ROLE: dict[str, Scope] = {"read": "read", "write": "write", "manage": "admin"}
# Columns of a statement in which `u` is the account; `read_account` makes an Account of them.
COLUMNS = """
    u.id AS user_id, u.username, u.is_staff, u.is_superuser, coalesce((
        SELECT jsonb_agg(jsonb_build_array(m.collection_id, m.role)) FROM documents_collectionmember m
        WHERE m.user_id = u.id
            OR m.group_id IN (SELECT i.group_id FROM auth_user_groups i WHERE i.user_id = u.id)
    ), '[]') AS memberships, ARRAY(
        SELECT g.name FROM auth_group g JOIN auth_user_groups i ON i.group_id = g.id
        WHERE i.user_id = u.id ORDER BY g.name
    ) AS groups
"""


@dataclass(frozen=True, slots=True)
class Account:
    """An account that may log in, with all that it may do."""

    name: str
    access: Access


def read_account(row: dict[str, Any]) -> Account:
    """Return the account of a row with COLUMNS."""
    name, is_staff = row["username"], row["is_staff"] or row["is_superuser"]
    principals = (f"user:{name}", *(f"group:{group}" for group in row["groups"]))
    whole = Access(
        "admin",
        None,
        user_id=row["user_id"],
        is_staff=is_staff,
        principals=principals,
        is_superuser=row["is_superuser"],
    )
    if row["is_superuser"]:
        return Account(name, whole)
    return Account(name, _limit(whole, _read_roles(row["memberships"]), "write" if is_staff else "read"))


def limit_to_key(
    access: Access, *, key_id: UUID, scope: Scope, collection_ids: tuple[UUID, ...] | None
) -> Access:
    """Return what a key of this account may do: no more than the account, and no more than the key."""
    access = replace(access, key_id=key_id, is_staff=access.is_staff and collection_ids is None)
    if access.collection_ids is None:
        return replace(access, scope=scope, collection_ids=collection_ids)
    roles = {
        id_: lesser(role, scope)
        for id_, role in access.roles.items()
        if collection_ids is None or id_ in collection_ids
    }
    return _limit(access, roles, lesser(scope, "write") if access.is_staff else "read")


def _limit(access: Access, roles: dict[UUID, Scope], least: Scope) -> Access:
    """Return the access with these roles. least: what it may do where no collection is concerned."""
    scope = least
    for role in roles.values():
        scope = greater(scope, role)
    return replace(access, scope=scope, collection_ids=tuple(roles), roles=roles)


def _read_roles(memberships: Iterable[tuple[str, str]]) -> dict[UUID, Scope]:
    """Return the greatest role in each collection."""
    roles: dict[UUID, Scope] = {}
    for collection, role in memberships:
        id_, scope = UUID(collection), SCOPE_OF_ROLE[role]
        roles[id_] = greater(roles.get(id_, scope), scope)
    return roles
