"""Chunks -> vectors; text -> the nearest chunks. Imports documents; rag imports it, never the reverse.

Work: PostgreSQL says what is to be done, a task says only that there is some
    `requesting`, `queue`   vectors are asked for, and leased by workers
    `services`              a batch is embedded; `vector_rows`, `sentences`, `words` are what it stores
    `settling`              documents are completed, failed or asked for again
    `version_switch`        a document's new version takes over
    `sweeper`               what nobody has in hand is found again; `document_reading` is off without files
    `progress`, `reports`   waiting for the work, and how far it is
    `ingestion`             jobs and documents as their users see them
    `bulk`, `bulk_results`  many files, for a command

Models
    `embedders`             one module each
    `registry`, `active`    the one embedder for each model, and the model that is searched
    `model_rows`, `model_adding`, `model_building`, `model_switch`, `model_removal`, `model_advice`
    `sentence_embedder`     the same model for chunkers that compare sentences

Searching
    `search`                the dense half of a search; `question_vectors` remembers what was asked
    `indexing`              vector indexes: built, measured, used by what is measured
    `analysis`, `lexical`   a text's words as BM25 sees them; `lexeme_counts` how common they are
    `outside`, `stores`, `clients`  vector stores outside PostgreSQL

Keeping it true
    `sanity`                documents, chunks, vectors and files held against each other
    `reindexing`, `filling` words and sentence vectors of what an earlier release stored
    `transfer`              a collection as one archive, and back
    `storage_used`          how much room vectors take

    `halfvec`, `vector_parameter`, `vectors`   vectors in PostgreSQL's forms, and a provider's, checked
    `types`, `protocols`, `querysets`             plain data, parts, the queries by name
"""
