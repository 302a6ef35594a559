"""What `manage.py` does around Django: the options of `up`, and the embedded database for commands."""

import os
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, ProgrammingError
from psycopg.errors import UndefinedColumn, UndefinedTable

from knowlex.embedded.data_folder import StackError
from knowlex.embedded.services import embedded_database, needs_database

UP_OPTIONS = {
    "host": "KNOWLEX_HOST",
    "port": "KNOWLEX_PORT",
    "data_dir": "KNOWLEX_DATA_DIR",
    "workers": "KNOWLEX_WORKERS",
}


def main(argv: list[str]) -> None:
    """argv as in sys.argv. What a user can put right ends with a message, not with a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
    if argv[1:2] == ["up"]:
        _options_to_environment(argv[2:])
    try:
        with _database_for(argv):
            _execute(argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except (StackError, ImproperlyConfigured) as exc:
        sys.exit(f"knowlex: {exc}")
    except OperationalError as exc:
        sys.exit(f"knowlex: The database (DATABASE_URL, else the embedded one) failed: {str(exc).strip()}")
    except ProgrammingError as exc:
        if not isinstance(exc.__cause__, UndefinedTable | UndefinedColumn):
            raise
        first = str(exc).partition("\n")[0]
        sys.exit(
            f"knowlex: The database is not migrated: {first}. `manage.py prepare` does it, and so does `up`."
        )


def _execute(argv: list[str]) -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(argv)


def _database_for(argv: list[str]) -> AbstractContextManager[None]:
    if not needs_database(argv):
        return nullcontext()
    from django.conf import settings

    if settings.ENV.database_url:
        return nullcontext()
    return embedded_database(settings.DATA_DIR, command=f"manage.py {argv[1]}")


def _options_to_environment(words: list[str]) -> None:
    """An option goes before its variable, which is then checked like any other."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for option in UP_OPTIONS:
        parser.add_argument(f"--{option.replace('_', '-')}")
    given, _ = parser.parse_known_args(words)
    for option, variable in UP_OPTIONS.items():
        value = getattr(given, option)
        if value is not None:
            os.environ[variable] = str(Path(value).absolute()) if option == "data_dir" else value
