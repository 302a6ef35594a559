"""Bytes -> pages -> chunks. Knows nothing of vectors: embeddings and rag import it, never the reverse.

Callers
    `authentication`        who asks, before any of the body is read; `access` says what they may do
    `keys`, `doorkeeper`    API keys, and wrong ones told without the database
    `idempotency`           requests that may be repeated

Files come
    `uploads`               a file in a request's body; `services` stores it, equal ones at once are `flights`
    `incoming_jobs`, `incoming`     the requests of jobs, and each of their documents; `forms` in the admin
    `fetching`, `fetch_targets`, `fetch_streams`   documents from the web, and from where they may be
    `folders`               files below folders, for commands

and are read
    `intake`, `jobs`, `replacing`   jobs and new versions are taken on
    `items`, `running`      which document is read next, by whom, and how it ended
    `reach`                 whether a worker sees the files
    `extractors`            bytes -> text with its structure, in a process that can be killed
    `chunkers`              text -> chunks
    `storing`, `storage`    the one way into the tables, and where files are
    `sweep`                 files that a crash left behind

Text, plain Python
    `characters`, `headings`, `sentences`, `abbreviations`   cleaned, and cut into sentences
    `tokens`, `vocabulary`  the embedding model's own tokens
    `languages`, `held_languages`, `stop_words`   which language it is in

What is there
    `collections`, `collection_settings`, `collection_statistics`, `collection_changes`
    `listing`, `page_report`        documents, chunks, and how each page was read
    `deletion`              what goes with a document
    `querysets`             the queries of the models by name

    `types`, `protocols`, `serializers`, `checks`   plain data, exchangeable parts, JSON, `manage.py check`
"""
