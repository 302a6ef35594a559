"""Log lines as JSON objects, one a line, each with the id of the request that it belongs to."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from knowlex.common.times import utc_timestamp
from knowlex.common.tracing import current_request_id

_ENCODER = json.JSONEncoder(default=str)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "request"}


class JsonFormatter(logging.Formatter):
    """time, level, logger, message, request_id, then whatever the caller gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": utc_timestamp(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := current_request_id.get():
            line["request_id"] = request_id
        line |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line)


def logging_settings(level: str) -> dict[str, Any]:
    """settings.LOGGING: all to stderr at `level`; libraries that log URLs or bodies only from WARNING."""
    quiet = {"level": "WARNING"} if level in ("DEBUG", "INFO") else {}
    chatty = ("httpx", "httpx2", "httpcore", "openai", "aiohttp", "asyncio", "pypdf", "psycopg", "django.db")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "knowlex.common.logging.JsonFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            "django.request": {"level": "ERROR"},  # the access line says it already
            **dict.fromkeys(chatty, quiet),
        },
    }
