"""What travels between the stages of answering. Plain Python, frozen.

`question` -> `retrieval` (passages with their `sentences`) -> `context` (blocks) -> `answer`, by `claims`
"""
