"""Chunks -> vectors; text -> the nearest chunks. Imports documents; rag imports it, never the reverse.

`services`, `tasks`, `views`    what can be done with embeddings, and its doors
`work`                  the queue of chunks to be embedded, and how far documents and jobs are
`embedders`             the part that makes vectors
`vectors`, `lexical`    what is stored of a chunk: vectors of it and of its sentences, and its words
`search`                the nearest chunks to a question
`indexing`              the life of the vector indexes
`model_lifecycle`       embedding models: added, built, switched to, removed
`external`, `stores`, `clients`   vector stores beside PostgreSQL, and what they are told
`transfer`, `sanity`    export and import; checks of the stored data
`schema`, `protocols`, `types`, `querysets`
"""
