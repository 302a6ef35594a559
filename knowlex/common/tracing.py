"""The id of the request that is being served, for log lines, in this thread, task or Celery task."""

import re
from contextvars import ContextVar

from knowlex.common.ids import new_id

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")


def accepted_or_new(claimed: str) -> str:
    """The caller's id if it is a sane one, else a fresh UUID version 7."""
    return claimed if _SANE.fullmatch(claimed) else str(new_id())
