"""The id of the request that is being served, for log lines: on the loop, in threads, in Celery tasks."""

import re
from contextvars import ContextVar
from typing import Any

from celery.signals import before_task_publish, task_prerun

from knowlex.common.ids import new_id

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")


def accepted_or_new(claimed: str) -> str:
    """The caller's id if it is a sane one, else a fresh UUID version 7."""
    return claimed if _SANE.fullmatch(claimed) else str(new_id())


@before_task_publish.connect
def _send_along(headers: dict[str, Any], **_: Any) -> None:
    headers["knowlex_request_id"] = current_request_id.get()


@task_prerun.connect
def _take_up(task: Any, **_: Any) -> None:
    """A task without it (a sweep's) forgets that of the task before."""
    current_request_id.set(task.request.get("knowlex_request_id") or "")
