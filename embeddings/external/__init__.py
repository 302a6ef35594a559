"""A vector store outside PostgreSQL, such as Qdrant or Chroma.

`configuration` says which store the settings name, and registers that it is another one than before. What
changes is written to the `outbox` by the transaction that changes it; `delivery` sends it in batches, and
`comparison` finds what differs all the same. `embeddings.search.vector_store` searches the store.
"""
