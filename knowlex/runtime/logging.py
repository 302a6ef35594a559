"""Logging: JSON objects, one a line and with the id of their request, or plain lines on a terminal."""

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from celery.signals import before_task_publish, task_prerun

from knowlex.base.ids import new_id
from knowlex.base.times import utc_timestamp

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")


def accepted_or_new(claimed: str) -> str:
    """Return the caller's id if it is a sane one, else a fresh UUID version 7."""
    return claimed if _SANE.fullmatch(claimed) else str(new_id())


@before_task_publish.connect
def _send_along(headers: dict[str, Any], **_: Any) -> None:
    headers["knowlex_request_id"] = current_request_id.get()


@task_prerun.connect
def _take_up(task: Any, **_: Any) -> None:
    """Take the task's id up; a task without it (a sweep's) forgets that of the task before."""
    current_request_id.set(task.request.get("knowlex_request_id") or "")


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


class PlainFormatter(logging.Formatter):
    """Writes for a person at a terminal: time, level, message, then `extra` as name=value."""

    def format(self, record: logging.LogRecord) -> str:
        extra = "".join(f" {name}={value}" for name, value in vars(record).items() if name not in _STANDARD)
        clock = f"{datetime.fromtimestamp(record.created):%H:%M:%S}"
        line = f"{clock} {record.levelname} {record.getMessage()}{extra}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def logging_settings(level: str) -> dict[str, Any]:
    """Return settings.LOGGING: all goes to stderr at `level`, libraries that log URLs or bodies from WARNING.

    A terminal gets plain lines; a file, a pipe or a container's log gets JSON.
    """
    quiet = {"level": "WARNING"} if level in ("DEBUG", "INFO") else {}
    chatty = (
        "httpx",
        "httpx2",
        "httpcore",
        "openai",
        "aiohttp",
        "asyncio",
        "pypdf",
        "psycopg",
        "django.db",
        "mcp",
    )
    formatter = "plain" if sys.stderr.isatty() else "json"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "knowlex.runtime.logging.JsonFormatter"},
            "plain": {"()": "knowlex.runtime.logging.PlainFormatter"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": formatter}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            "django.request": {"level": "ERROR"},  # the access line says it already
            **dict.fromkeys(chatty, quiet),
        },
    }
