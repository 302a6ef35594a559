"""A Valkey that hangs."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import redis


@contextmanager
def paused(url: str) -> Iterator[psutil.Process]:
    """It accepts connections and never answers; goes on at the end at the latest."""
    with redis.Redis.from_url(url) as client:
        process = psutil.Process(client.info("server")["process_id"])
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield process
    finally:
        os.kill(process.pid, signal.SIGCONT)
