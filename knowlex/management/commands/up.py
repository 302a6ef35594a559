"""python manage.py up: the whole of Knowlex, until stopped."""

import asyncio
import multiprocessing
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from django.core.management.base import CommandError, CommandParser

from knowlex.runtime.commands import ProjectCommand

MODEL_WITHIN_S = 2.0


class Command(ProjectCommand):
    help = "Start database, broker, workers and web server; stop with Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        # knowlex/cli.py has read these already: the settings need them before Django is there.
        parser.add_argument("--host", help="address to serve at (127.0.0.1)")
        parser.add_argument("--port", help="port to serve at (8080); 0 takes a free one")
        parser.add_argument("--data-dir", help="data folder (KNOWLEX_DATA_DIR, else .knowlex)")
        parser.add_argument("--workers", help="worker processes (one for each core)")

    def handle(self, *args: Any, **options: Any) -> None:
        from django.conf import settings

        from knowlex.embedded.data_folder import StackError
        from knowlex.embedded.supervisor import Stack

        stack = Stack(
            data_dir=settings.DATA_DIR,
            host=settings.HOST,
            port=settings.PORT,
            workers=settings.WORKERS,
            web_processes=settings.WEB_PROCESSES,
            log_level=settings.LOG_LEVEL,
            embedded_postgres=not settings.ENV.database_url,
            embedded_valkey=not settings.ENV.redis_url,
            prepare=self._prepare,
            say=self._say,
            once_ready=lambda: asyncio.run(self._say_who_answers()),
        )
        try:
            stack.run()
        except StackError as exc:
            raise CommandError(str(exc)) from exc

    def _prepare(self) -> None:
        """In a process of its own, whose memory goes with it: this one only watches the others for weeks.

        Raises what `bootstrap.prepare` does.
        """
        from knowlex.embedded.data_folder import StackError

        forking = multiprocessing.get_context("fork")  # there is no thread yet
        failures, told = forking.Pipe(duplex=False)
        preparing = forking.Process(target=self._prepare_here, args=[told], daemon=True)
        preparing.start()
        told.close()
        try:
            with suppress(EOFError):  # it ended and had no failure to tell
                raise failures.recv()
            preparing.join()
        except BaseException:  # its failure, or to be stopped meanwhile
            preparing.kill()
            raise
        if preparing.exitcode:  # it has written why
            raise StackError("The data folder could not be prepared.")

    def _prepare_here(self, told: Connection) -> None:
        from django.core.exceptions import ImproperlyConfigured
        from django.db import Error

        from knowlex.embedded import bootstrap
        from knowlex.embedded.data_folder import StackError

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other one hears it, too, and ends this one
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            bootstrap.check_broker()
            bootstrap.prepare(self._say)
        except (StackError, ImproperlyConfigured, Error) as exc:
            told.send(exc)

    async def _say_who_answers(self) -> None:
        from knowlex.embedded import chat_model

        self._say(await chat_model.describe_answerer(within_s=MODEL_WITHIN_S))

    def _say(self, line: str) -> None:
        with suppress(OSError):  # written to a full disk: nothing ends for it
            self.stdout.write(line)
            self.stdout.flush()
