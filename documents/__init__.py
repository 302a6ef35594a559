"""Documents: bytes -> pages -> chunks. Nothing here knows of vectors; embeddings and rag import this app.

Layers, from above
    `urls`, `views`    the Knowlex API of documents
    `admin`, `management`   the admin, and commands about API keys
    `services`         ingesting, reading and deleting documents for that API
    `authentication`   the middleware that gives each request its access
    `accounts`         accounts, their roles and sessions, and logging in
    `ingest`           the ways in
        `uploads`, `requests`, `fetching`, `fetch_addresses`, `folders`   files come
        `jobs`, `queue`, `worker`   jobs and new versions, which document is next, and reading it
        `writer`       the steps from a file to a stored document
        `idempotency`, `single_flight`   repeated requests, and equal uploads at the same time
    `library`          what is stored: collections, their states and statistics; lists, deletion, files
    `api_keys`         creating, finding and revoking API keys
    `extractors`       bytes -> text with its structure, in a process that can be killed
    `chunkers`         text -> chunks
    `models`           tables and the queries about them
    `text`             plain Python: characters, headings, sentences, tokens, languages, word lists
    `access`           what a caller may do
    `types`, `protocols`, `checks`   plain data, exchangeable parts, `manage.py check`
"""
