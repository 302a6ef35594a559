"""Telling the workers of new work from the admin."""

import logging

from embeddings import tasks
from knowlex.common.errors import BrokerUnavailable

log = logging.getLogger(__name__)


def wake_workers(documents: int) -> None:
    """Only a hint: without a broker the workers' own sweep finds the work a little later."""
    try:
        tasks.enqueue_ingest(documents)
    except BrokerUnavailable:
        log.warning("workers not told of new work", extra={"documents": documents})
