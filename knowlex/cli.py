"""What `manage.py` does around Django: help, the data folder, and the embedded database for commands."""

import os
import signal
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

from knowlex import __version__
from knowlex.embedded.data_folder import (
    StackError,
    postgres_dir,
    running_servers,
    served_at,
    unfinished_restore,
)

PROJECT_DIR = Path(__file__).resolve().parent.parent
UP_OPTIONS = {
    "host": "KNOWLEX_HOST",
    "port": "KNOWLEX_PORT",
    "data_dir": "KNOWLEX_DATA_DIR",
    "workers": "KNOWLEX_WORKERS",
}
OF_DJANGO = "django.contrib.auth"  # whose commands find the data folder as ours do
# Our commands by purpose: name -> (app, what it does).
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Run": {
        "up": ("knowlex", "start everything, until Ctrl-C"),
        "doctor": ("knowlex", "what is configured, what answers, and one question to the chat model"),
        "prepare": ("knowlex", "what `up` does before it serves: migrate, build the model, make an admin"),
        "build_model": ("embeddings", "build the local embedding model"),
    },
    "Documents and questions": {
        "ingest": ("embeddings", "take in files and folders"),
        "sync": ("embeddings", "list sources, or run them: folders, WebDAV and S3 that stay in sync"),
        "ask": ("rag", "ask a question; the answer comes with its citations"),
        "mcp": ("rag", "speak MCP on standard input and output, for assistants on this machine"),
        "explain": ("rag", "at which stage of a search a passage was lost"),
    },
    "People and API keys": {
        "createsuperuser": (OF_DJANGO, "make an administrator"),
        "changepassword": (OF_DJANGO, "give an administrator another password"),
        "create_api_key": ("documents", "make a key"),
        "list_api_keys": ("documents", "list the keys"),
        "revoke_api_key": ("documents", "revoke a key"),
    },
    "Quality": {
        "evaluate": ("rag", "measure search and answers on a question set"),
        "question_set": ("rag", "load, list, export and remove question sets"),
        "calibrate": ("rag", "fit relevance to labelled pairs or questions of your own"),
        "verify_citations": ("rag", "check the citations of stored answers again"),
    },
    "Vectors": {
        "embedding_model": ("rag", "add, build, compare and switch embedding models"),
        "vector_index": ("embeddings", "show, build or measure the vector index"),
        "vector_store": ("embeddings", "compare or repair an external vector store"),
        "embed_sentences": ("embeddings", "embed the sentences of chunks that have no such vectors"),
        "reindex_words": ("embeddings", "analyse the words of stored documents again"),
    },
    "Care": {
        "backup": ("knowlex", "write everything to one folder, while people work"),
        "restore": ("knowlex", "read such a folder"),
        "sanity": ("embeddings", "check all stored data against each other"),
        "export_collection": ("embeddings", "write a collection to one file"),
        "import_collection": ("embeddings", "read such a file"),
    },
}
OUR_COMMANDS = {name: app for group in COMMANDS.values() for name, (app, _) in group.items()}
HELP = {"help", "--help", "-h"}
# Commands that touch no database, or see to it themselves.
WITHOUT_DATABASE = {
    *(*HELP, "version", "--version", "up", "doctor", "build_model", "mcp", "collectstatic"),
    *("compilemessages", "makemessages", "diffsettings", "startapp", "startproject"),
}
MAKES_DATABASE = {
    "up",
    "prepare",
    "build_model",
    "doctor",
    "restore",
}  # of ours; others need one that is there
AFTER_BROKEN_RESTORE = {"restore", "build_model", "doctor"}


def main(argv: list[str]) -> None:
    """Run the command in `argv`; where nobody reads on, as with `head`, end as the shell's commands do."""
    try:
        try:
            _run(argv)
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written at the exit
        sys.exit(128 + signal.SIGPIPE)


def _run(argv: list[str]) -> None:
    """What a user can put right ends with a message, not with a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
    if _print_help(argv):
        return
    try:
        argv = _read_data_dir(argv)
        _require_backup(argv)
        if argv[1] == "up":
            _set_variables_from_options(argv[2:])
        elif not HELP & set(argv[2:]):
            _choose_data_dir(argv[1])
        _refuse_root_beside_owner(argv)
        _refuse_half_restored(argv[1])
        with _open_database(argv):
            _execute(argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as exc:
        message = _explain_failure(exc)
        if message is None:
            raise
        sys.exit(f"knowlex: {message}")


def needs_database(argv: list[str]) -> bool:
    """Tell whether the command in `argv` uses the database; `check` does only when told to look at it."""
    if len(argv) < 2 or argv[1] in WITHOUT_DATABASE or {"--help", "-h"} & set(argv[2:]):
        return False
    return argv[1] != "check" or any(word.startswith(("--database", "--deploy")) for word in argv)


def _print_help(argv: list[str]) -> bool:
    """Answer what asks for help with our commands, or for the version, without loading the project, which
    takes seconds.
    """
    words = argv[1:]
    if words in (["version"], ["--version"]):
        print(f"Knowlex {__version__}")
        return True
    if not words or words in ([name] for name in HELP):
        print(describe_commands())
        return True
    name = words[1] if words[0] == "help" and len(words) > 1 else words[0]
    if OUR_COMMANDS.get(name) in (None, OF_DJANGO) or not HELP & set(words):
        return False
    parser = _parser_of(name)
    if name != "up":
        parser.add_argument("--data-dir", help="data folder (that of the running server, else .knowlex)")
    rest = [word for word in words if word not in {"help", name}] or ["--help"]
    parser.parse_args(rest)  # ends the process
    return True


def _parser_of(name: str) -> ArgumentParser:
    module = import_module(f"{OUR_COMMANDS[name]}.management.commands.{name}")
    parser: ArgumentParser = module.Command().create_parser("manage.py", name)
    return parser


def describe_commands() -> str:
    """Return our commands by purpose, one a line."""
    lines = ["Usage: manage.py COMMAND [--data-dir FOLDER] …; `manage.py COMMAND --help` tells its options."]
    for purpose, commands in COMMANDS.items():
        lines += ["", purpose, *(f"  {name:<19}{what}" for name, (_, what) in commands.items())]
    return "\n".join([*lines, "", "Django's own commands: manage.py help --commands"])


def _explain_failure(exc: Exception) -> str | None:
    """Return what to tell a user of this failure; None where it is a bug of ours."""
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError, ProgrammingError
    from psycopg.errors import UndefinedColumn, UndefinedTable

    if isinstance(exc, StackError | ImproperlyConfigured):
        return str(exc)
    if isinstance(exc, OperationalError):
        return f"The database (DATABASE_URL, else the embedded one) failed: {str(exc).strip()}"
    if type(exc) is EOFError and not sys.stdin.isatty():
        return "This command asks something: it needs a terminal."
    cause = exc.__cause__ if isinstance(exc, ProgrammingError) else exc
    if isinstance(cause, UndefinedTable | UndefinedColumn):
        first = str(exc).partition("\n")[0]
        return f"The database is not migrated: {first}. `manage.py prepare` does it, and so does `up`."
    return None


def _execute(argv: list[str]) -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(argv)


def _open_database(argv: list[str]) -> AbstractContextManager[None]:
    if not needs_database(argv):
        return nullcontext()
    import django
    from django.conf import settings
    from django.core.management import get_commands

    from knowlex.embedded.services import embedded_database

    django.setup()
    if settings.ENV.database_url or argv[1] not in get_commands():  # a mistyped one makes no database
        return nullcontext()
    if argv[1] in OUR_COMMANDS and argv[1] not in MAKES_DATABASE:
        _require_data(settings.DATA_DIR)
    alone = argv[1] == "restore"
    return embedded_database(settings.DATA_DIR, command=f"manage.py {argv[1]}", alone=alone)


def _require_backup(argv: list[str]) -> None:
    """Refuse what is no backup before a database is made for it."""
    if argv[1] == "restore":
        folder = Path(_parser_of("restore").parse_args(argv[2:]).folder).absolute()
        if not (folder / "backup.json").is_file():
            raise StackError(f"{folder} is no whole backup: it has no backup.json.")


def _refuse_root_beside_owner(argv: list[str]) -> None:
    """Refuse root a folder from which another account serves, who could not write to what root leaves there.

    What root makes on some network drives belongs to another account, too, and so does all that is there.
    """
    if argv[1] == "build_model" or not (argv[1] in OUR_COMMANDS or needs_database(argv)) or os.geteuid() != 0:
        return
    from knowlex.values import account_name

    folder = PROJECT_DIR / Path(os.environ.get("KNOWLEX_DATA_DIR", "").strip() or ".knowlex").expanduser()
    with suppress(OSError), TemporaryFile(dir=folder) as made:
        owner = (folder / "instance.lock").stat().st_uid
        if owner != 0 and os.fstat(made.fileno()).st_uid == 0:
            raise StackError(f"{folder} belongs to another account: use `sudo -u {account_name(owner)} …`.")


def _refuse_half_restored(command: str) -> None:
    if command in OUR_COMMANDS and command not in AFTER_BROKEN_RESTORE:
        from django.conf import settings

        marker = unfinished_restore(settings.DATA_DIR)
        if marker.exists():
            raise StackError(f"{marker.read_text()} Run `manage.py restore` again.")


def _require_data(data_dir: Path) -> None:
    """Refuse to make an empty database for a command that would find nothing in it."""
    if not postgres_dir(data_dir).exists() and not (data_dir / "instance.lock").exists():
        raise StackError(
            f"There is no knowledge base in {data_dir} yet. `manage.py up` makes one there, and so does "
            "`manage.py prepare`; --data-dir FOLDER names another folder."
        )


def _read_data_dir(argv: list[str]) -> list[str]:
    """Take --data-dir from the words of one of our commands: the settings need it before Django is there."""
    if argv[1] not in OUR_COMMANDS:
        return argv
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data-dir")
    options, words = parser.parse_known_args(argv[2:])
    if options.data_dir == "":  # as of a variable of the shell that is not set; "." would be taken for it
        raise StackError("--data-dir names no folder.")
    if options.data_dir is not None:
        os.environ["KNOWLEX_DATA_DIR"] = str(Path(options.data_dir).absolute())
    return [*argv[:2], *words]


def _choose_data_dir(command: str) -> None:
    """Where no data folder was named and nothing runs in the default one, use the server that does run."""
    is_named = os.environ.get("KNOWLEX_DATA_DIR") or os.environ.get("DATABASE_URL")
    default = PROJECT_DIR / ".knowlex"
    if is_named or command not in OUR_COMMANDS or command == "build_model" or served_at(default):
        return
    servers = running_servers()
    if not servers or command == "prepare":
        return
    running = ", ".join(f"{address} (--data-dir {folder})" for folder, address in servers.items())
    if postgres_dir(default).exists():
        print(f"knowlex: This command uses {default}. There also runs {running}.", file=sys.stderr)
    elif len(servers) > 1:
        raise StackError(f"Several servers run; name one of them: {running}.")
    else:
        (folder,) = servers
        print(f"knowlex: Using the server that runs: {running}.", file=sys.stderr)
        os.environ["KNOWLEX_DATA_DIR"] = str(folder)


def _set_variables_from_options(words: list[str]) -> None:
    """Put the options of `up` in place of their variables, which are then checked like any other."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for option in UP_OPTIONS:
        parser.add_argument(f"--{option.replace('_', '-')}")
    options = parser.parse_known_args(words)[0]
    for option, variable in UP_OPTIONS.items():
        value = getattr(options, option)
        if value is not None:
            os.environ[variable] = value
