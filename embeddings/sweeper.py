"""The thread of a worker's main process that finds work which no worker has, and does the chores."""

import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread, Timer
from typing import Any

import psycopg
from celery import Celery
from celery.signals import worker_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connection

from documents.ingest.idempotency import forget_expired
from documents.ingest.jobs import forget_finished_jobs
from documents.library import collection_states, page_cache, storage
from documents.webhooks import forget_old_deliveries
from embeddings import indexing, services, tasks
from embeddings.external import configuration
from embeddings.lexical import index
from knowlex.base.errors import BrokerUnavailable, DatabaseUnavailable, FilesUnavailable
from knowlex.db.silence import LET_GO_OF_LOST_HOSTS
from knowlex.db.threads import execute

FOLDER_CHECK_EVERY_S = 15.0
log = logging.getLogger(__name__)


class DocumentReading:
    """Switches the reading of documents on and off for one worker. hostname: as Celery knows it."""

    def __init__(self, app: Celery, hostname: str) -> None:
        self._app, self._hostname = app, hostname
        self._on, self._due = True, 0.0

    def keep(self) -> None:
        """Look, from time to time, whether the files are in reach. Raises DatabaseUnavailable."""
        if time.monotonic() < self._due or not self._is_wanted():
            return
        self._due = time.monotonic() + FOLDER_CHECK_EVERY_S
        if reason := _find_reason_not_to_read():
            log.error("this worker reads no documents", extra={"reason": reason})
        on = not reason
        if on != self._on:
            self._turn(on=on)

    def _is_wanted(self) -> bool:
        """Return False in a worker that was started with other queues only (-Q)."""
        return not self._on or settings.INGEST_QUEUE in self._app.amqp.queues.consume_from

    def _turn(self, *, on: bool) -> None:
        control = self._app.control
        turn = control.add_consumer if on else control.cancel_consumer
        for queue in (settings.INGEST_QUEUE, settings.SYNC_QUEUE):  # both put files where all look for them
            turn(queue, destination=[self._hostname])
        log.warning("this worker reads documents" if on else "this worker leaves documents to others")
        self._on = on


def _find_reason_not_to_read() -> str:
    try:
        return storage.describe_other_folder() if storage.is_other_folder() else ""
    except FilesUnavailable as exc:
        return exc.message


EVERY_S = 3.0
CHORES_EVERY_S = 300.0
SHUTDOWN_GRACE_S = 10.0
LEADER_LOCK = 0x6B780103
_also: list[Callable[[], object]] = []
_described = Event()


def add_sweep_work(work: Callable[[], object]) -> None:
    """Do this with every sweep, too: for apps above this one."""
    _also.append(work)


class Leadership:
    """Which worker group, of those on all hosts, does the chores that are for all: who has a lock.

    The lock is of a session of PostgreSQL's that ends with the group. Each chore stands being done by two:
    should the session end unseen while chores are done, the next leader may begin them, too.
    """

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None

    def is_ours(self) -> bool:
        """Tell if this group leads; it does from now on if nobody else did. Raises psycopg.Error."""
        if self._session is not None:
            try:
                self._session.execute("SELECT 1")
                return True
            except psycopg.Error:
                self._session.close()
                self._session = None
        session = psycopg.connect(
            settings.DATABASE_URL, autocommit=True, connect_timeout=2, tcp_user_timeout=4000
        )
        session.execute(LET_GO_OF_LOST_HOSTS)
        if session.execute("SELECT pg_try_advisory_lock(%s)", [LEADER_LOCK]).fetchone() != (True,):
            session.close()
            return False
        log.info("this worker group does the chores of all")
        self._session = session
        return True


class Rest:
    """Tells when a sweep can be left out: when nothing was written for longer than any lease lasts.

    Each transaction that writes changes the snapshot, which tells those that have ended. What falls due by
    the clock alone, as a later try, then waits for `every_s` at most.
    """

    def __init__(self, *, quiet_s: float = 60.0, every_s: float = 15.0) -> None:
        self._quiet_s, self._every_s = quiet_s, every_s
        self._written: object = None
        self._written_at = self._swept_at = -math.inf

    def is_over(self) -> bool:
        """Tell whether to sweep now. Raises DatabaseUnavailable."""
        ((written,),) = execute("SELECT pg_current_snapshot()::text")
        now = time.monotonic()
        if written != self._written:
            self._written, self._written_at = written, now
        over = now - self._written_at < self._quiet_s or now - self._swept_at >= self._every_s
        if over:
            self._swept_at = now
        return over


class Sweeper:
    """Sweeps at once, then every 3 s, and less often while nothing is written.

    Keeps its database connection for a minute: planning its statements anew costs three times what they do.
    A child that is forked meanwhile leaves the connection alone, as psycopg closes only those of its process.
    """

    def __init__(self) -> None:
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="sweeper", daemon=True)
        self._leadership = Leadership()
        self._chores: Thread | None = None
        self._chores_due = 0.0
        self._folded_until = 0
        self._reading: DocumentReading | None = None
        self._registered = False
        self._rest = Rest()

    def start(self, reading: DocumentReading) -> None:
        self._reading = reading
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._rest.is_over():
                    self._pass()
            except (DatabaseUnavailable, BrokerUnavailable) as exc:
                log.warning("sweep put off", extra={"reason": exc.message})
            except Exception:  # a thread that ended would leave lost work lying
                log.exception("sweep failed")
            finally:
                close_old_connections()
            self._stopping.wait(EVERY_S)

    def _pass(self) -> None:
        batches, items = services.sweep()
        sent = tasks.enqueue_lost(batches), tasks.enqueue_lost_ingest(items)
        if self._reading:
            self._reading.keep()
        if any(sent):
            log.info("lost work queued again", extra={"batches": sent[0], "documents": sent[1]})
        self._ship()
        tasks.enqueue_lost_syncs()
        for work in _also:
            work()
        collection_states.fold_changes()
        self._folded_until = index.fold_counts(since=self._folded_until)
        index.index_pending()
        if time.monotonic() >= self._chores_due and not (self._chores and self._chores.is_alive()):
            self._chores_due = time.monotonic() + CHORES_EVERY_S
            self._chores = Thread(target=_do_chores, args=[self._leadership], name="chores", daemon=True)
            self._chores.start()

    def _ship(self) -> None:
        """A start that could not reach the database has registered no store."""
        if not self._registered:
            _register()
            self._registered = True
        configuration.fill_outbox()
        tasks.enqueue_lost_deliveries()


def _do_chores(leadership: Leadership) -> None:
    """Run what may take long in a thread of its own: an index can take minutes to build."""
    for chore in _chores(leadership):
        try:
            chore()
        except Exception:  # tried again in five minutes, and no reason to leave the others
            log.exception("a chore failed")
        finally:
            connection.close()


def _chores(leadership: Leadership) -> Iterator[Callable[[], object]]:
    """Yield those of this host, and if this group leads, those of all."""
    yield storage.sweep_incoming
    yield page_cache.sweep
    is_folder = not storage.file_store().is_service
    if is_folder:  # which another host may not see
        yield storage.sweep_stored_files
    try:
        leads = leadership.is_ours()
    except psycopg.Error as exc:
        log.warning("chores put off", extra={"error": type(exc).__name__})
        return
    if leads:
        if not is_folder:
            yield storage.sweep_stored_files
        yield forget_finished_jobs
        yield forget_expired
        yield forget_old_deliveries
        yield services.forget_old_runs
        yield indexing.maintain_indexes
        yield _describe_missing


def _describe_missing() -> None:
    """Once a process: what is stored later is described as it is stored."""
    if not _described.is_set():
        chunks = sum(index.describe_missing())
        _described.set()
        if chunks:
            log.info("chunks described that an older version had stored", extra={"chunks": chunks})


def _register() -> None:
    if change := configuration.register_store():
        log.warning(str(change))


_sweeper = Sweeper()


@worker_init.connect
def _refuse_mixed_vectors(**_: Any) -> None:
    """Refuse to start a worker with a model that does not fit the stored vectors."""
    try:
        services.ensure_model_matches()
        _register()
    except ImproperlyConfigured as exc:
        raise SystemExit(f"knowlex: {exc}") from exc
    except DatabaseUnavailable:
        log.warning("the database cannot be reached; the model is checked with the first batch")
    finally:
        connection.close()


@worker_ready.connect
def _start(sender: Any, **_: Any) -> None:
    _sweeper.start(DocumentReading(sender.app, sender.hostname))


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    """Running batches may end, but a model that hangs does not hold the worker: leases end by themselves."""
    _sweeper.stop()
    enough = Timer(SHUTDOWN_GRACE_S, os._exit, (0,))
    enough.daemon = True
    enough.start()
