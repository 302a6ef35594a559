"""What is overridden in Celery and Kombu, so that a restart of the broker ends no worker.

Workers load it, by CELERY_WORKER_POOL; others only send, over connections that they close once.
"""

from typing import Any

from celery.concurrency import asynpool, prefork
from kombu.transport import redis
from redis.exceptions import ConnectionError as Disconnected


class Pool(asynpool.AsynPool):
    """Tracks a child again that ended while the broker was away.

    It is untracked by setting its descriptor to None; when the connection is there again, all children are
    tracked anew, and Celery 5.7 dies of that None (celery/celery#9250 is of the kind).
    """

    def _track_child_process(self, proc: Any, hub: Any) -> None:
        if getattr(proc, "_sentinel_poll", 0) is None:
            del proc._sentinel_poll  # so that it is opened again, and the end of the child noticed
        super()._track_child_process(proc, hub)  # type: ignore[misc]  # the stubs do not know it


class TaskPool(prefork.TaskPool):
    Pool = Pool


class Channel(redis.Channel):
    """Says that the connection is gone where Kombu 5.7 looks for settings that are gone, too.

    Celery closes a connection that broke twice. The first time takes the settings away, and may leave a
    channel open: another that fails to close comes before it. The second time, or a task that is acknowledged
    later, then makes a new pool of connections from settings that are None: an AttributeError, which ends the
    worker.
    """

    def _connparams(self, asynchronous: bool = False) -> Any:
        if getattr(self.connection, "client", None) is None:
            raise Disconnected("The connection of this channel was closed.")
        return super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]  # the stubs do not know it


redis.Transport.Channel = Channel  # there is no setting for it: a URL names a transport, and no class
