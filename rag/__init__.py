"""Question -> answer, with citations that were checked. Imports embeddings and documents, never the reverse.

The way of a question
    `api`                   the HTTP faces; each knows nothing of the others
    `answering`             what every face calls: the cache, the pipeline, the record, whole or streamed
    `conversation`          a follow-up question is made to stand alone
    `prompts`, `types`, `protocols`, `question_settings`   what the stages are given, pass on, and are
    `word_data`             the word lists and patterns in the folders named data
    `read_state`, `deadlines`   the state of what is read; the time that stages share and take

Parts that settings.KNOWLEX names
    `retrievers`, `rerankers`, `synthesizers`, `judges`
    `chat`, `local_models`  what parts ask: chat models over HTTP, ONNX models in this process

Finding and ranking, plain Python
    `ranking`               the sentences of passages, the names of questions, the default order
    `relevance`             how probable it is that a passage helps
    `question_forms`        which questions compare two things, or ask about a document as a whole
    `named_documents`       which documents a question names, and what it asks of these
    `context`               what of the passages the synthesizer is shown
    `extracting`            which sentences are the answer, without a chat model

Citing, plain Python
    `citations`             a reply read, its claims judged by the passages, its markers numbered

After the answer
    `history`               past questions, written and read; feedback; how good answers are
    `metrics`               what is counted
    `charts`                figures and days drawn as SVG
    `verification`          stored citations, checked again through the public API
    `evaluation`            question sets, and what configurations make of them

    `trial`                 one question asked of the synthesizer, to see whether it cites
    `health`                whether all of it can work
"""

import os

# ONNX Runtime reports its use to its makers, from threads that hang the end of a process that was forked. It
# looks at this when it is imported, and no module of this package is before it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
