"""What travels between the stages of answering. Plain Python, frozen.

`question` -> `retrieval` (passages) -> `context` (blocks) -> `answer`
"""
