"""Documents: bytes -> pages -> chunks. Nothing here knows of vectors; embeddings and rag import this app.

From above:

- `urls`, `views`: the Knowlex API of documents
- `admin`, `management`: the admin, and commands about API keys
- `services`: ingesting, reading and deleting documents for that API
- `webhooks`: addresses that are told when work ends
- `viewing`: pictures and text of pages, and where quotes stand on them
- `authentication`: the middleware that gives each request its access
- `sources`: folders, WebDAV and S3 that stay in sync with a collection
- `ingest`: the ways in, from a request to a stored document
- `library`: what is stored: collections, lists, deletion, files
- `api_keys`: creating, finding and revoking API keys
- `accounts`: what accounts may do, their sessions, and logging in
- `extractors`: bytes -> text with its structure, in a process that can be killed
- `chunkers`: text -> chunks
- `file_stores`: where uploaded files are: on disk, or in a bucket
- `models`: tables and the queries about them
- `text`: plain Python: characters, headings, sentences, tokens, languages, word lists
- `access`: what a caller may do
- `types`, `protocols`, `checks`: plain data, exchangeable parts, what manage.py checks
"""
