"""Question -> answer, with citations that were checked. Imports embeddings and documents, never the reverse.

The way of a question
    `contracts`             the HTTP faces: a serializer in, a body out; each knows nothing of the others
    `asking`                what every face calls: the cache, the pipeline, the record, whole or streamed
    `services`              all else that can be done with questions: searching, explaining, what one may read
    `conversations`, `standalone`   a follow-up question is made to stand alone
    `collections_read`, `states`    what is read, and in which state: what the cache and replicas hold on to
    `caching`               answers to reuse
    `pipeline`              the order of the stages; `deadlines` and `stages` share and measure their time
    `prompts`, `types`, `protocols`, `reasons`   what the stages are told, pass on, and are

Parts that settings.KNOWLEX names
    `retrievers`, `rewriting`, `rerankers`, `synthesizers`, `judges`
    `chat`, `local_models`  what parts ask: chat models over HTTP, ONNX models in this process

Finding and ranking, plain Python
    `sentences`, `sentence_scores`, `named`   what a passage says of a question, sentence by sentence
    `ordering`              the default order of passages
    `relevance`             how probable it is that a passage helps
    `questions`             which questions compare two things, or ask about a document as a whole
    `context`               what of the passages the synthesizer is shown
    `extracting`            which sentences are the answer, without a chat model

Citing, plain Python
    `citations`             a reply read, and its claims judged by the passages
    `numbering`             markers, as each face numbers them
    `snippets`, `quoted_pages`, `unread`, `plain_text`   what else a face tells of an answer

After the answer
    `memory`                past questions, written and read; feedback; how good answers are
    `answer_relevance`      whether an answer answers its question
    `query_counts`, `statistics`, `metrics`   what is counted
    `verifying`             stored citations, checked again through the public API
    `evaluation`            question sets, and what configurations make of them
    `explaining`            where a chunk was lost

    `querysets`             the queries of the models by name
    `trial`                 one question asked of the synthesizer, to see whether it cites
    `health`, `warming`     whether all of it can work, and what is loaded before it is needed
    `service`               `RAGService`, for programs without Django
"""
