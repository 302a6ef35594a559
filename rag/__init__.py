"""Question -> answer, with citations that were checked. Imports embeddings and documents, never the reverse.

    `api`                   the HTTP faces: a shape in, a body out
    `answering`             the use case of asking: cache, pipeline, record, whole or streamed
    `services`              all else that can be done with questions: searching, explaining
    `conversation`          a follow-up question is made to stand alone

Parts that settings.KNOWLEX names
    `retrievers`, `rewriting`, `rerankers`, `synthesizers`, `judges`
    `chat`, `local_models`  what parts ask: chat models over HTTP, ONNX models in this process

Plain Python
    `ranking`               what a passage says of a question, sentence by sentence, and the default order
    `relevance`             how probable it is that a passage helps
    `questions`             which questions compare two things, or ask about a document as a whole
    `context`               what of the passages the synthesizer is shown
    `extracting`            which sentences are the answer, without a chat model
    `citations`             a reply read, and its claims judged by the passages
    `types`, `protocols`, `prompts`, `question_settings`

After the answer
    `history`               past questions, written and read; feedback; how good answers are
    `verification`          stored citations, checked again through the public API
    `evaluation`            question sets, and what configurations make of them
    `metrics`, `health`, `trial`, `querysets`
    `service`               `RAGService`, for other programs
"""
