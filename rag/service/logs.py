"""LOG_LEVEL, for the loggers of this library alone: the root logger and all handlers stay as they are."""

import logging
import os

LOGGERS = ("rag", "embeddings", "documents", "knowlex")


def set_level(level: str) -> None:
    """Where nobody has set LOG_LEVEL, a level that the caller gave to a logger stays.

    A program that has set up no logging at all sees nothing of it: errors are raised besides.
    """
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        if logger.level == logging.NOTSET or os.environ.get("LOG_LEVEL", "").strip():
            logger.setLevel(level)
