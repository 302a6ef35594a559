"""A vector store outside PostgreSQL, such as Qdrant or Chroma: told what it is to hold, and searched.

`configured` is the store that the settings name, `registering` notices that they name another one. What
changes is noted in the `outbox` by the transaction that changes it; `shipping` sends it as `parcels`,
`shipped` and `emptying` wait for that, and `comparing` finds what differs all the same. `nearby` searches
the store, or a `mirror` of PostgreSQL in this process's memory, which reads `mirrored_rows`.
"""

from embeddings.external.configuration import (
    StoreIdentity,
    configured_store,
    describe_place_without_store,
    external_store,
    space_of,
    without_login,
)

__all__ = [
    "StoreIdentity",
    "configured_store",
    "describe_place_without_store",
    "external_store",
    "space_of",
    "without_login",
]
