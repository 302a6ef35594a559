"""A backup of everything, made while people work, and back: one folder.

    backup.json      format, version, when, of which migrations; written last: without it nothing is whole
    database.dump    the database in pg_dump's own format, as it was at one moment
    files/           the uploaded files of the rows that it has
    secret_key       of the data folder; not there where KNOWLEX_SECRET_KEY is set

Not in it: pictures of pages, the queue and the cache, which are made again, and models. While it is made, no
file is removed (documents.library.storage), so that every row has its file.

Restoring is one transaction: a restore that fails leaves the database as it was. One that is killed leaves
the file `restore_unfinished`, too, by which every command but `restore` refuses the data folder.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from documents.library import storage
from embeddings.indexing.kinds import PREFIX
from knowlex.base.errors import KnowlexError
from knowlex.db.threads import execute
from knowlex.embedded.data_folder import SECRET_KEY_FILE, StackError, unfinished_restore
from knowlex.embedded.programs import LOCK_TIMEOUT_MS, DatabasePrograms, finish

FORMAT, VERSION = "knowlex backup", 1
MANIFEST, DUMP, FILES = "backup.json", "database.dump", "files"
_ROWS_AT_ONCE = 2000
_SAMPLE = 20
_FILES_OF_ROWS = """
    SELECT file FROM documents_document WHERE file <> ''
    UNION SELECT file FROM documents_ingestitem WHERE file <> '' AND deleted_at IS NULL
"""
# Whatever is of an extension stays: who restores may not be the one who may create it.
_CLEAR = """
DO $$ DECLARE statements text[]; statement text; BEGIN
    -- Named before the first is dropped: what has gone with another one has no name any more.
    SELECT array_agg(format('DROP %s IF EXISTS %s CASCADE',
        CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass))
    INTO statements FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                      AND d.deptype IN ('e', 'a', 'i'));
    FOREACH statement IN ARRAY coalesce(statements, '{}') LOOP EXECUTE statement; END LOOP;
    SELECT array_agg(format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure))
    INTO statements FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                      AND d.deptype = 'e');
    FOREACH statement IN ARRAY coalesce(statements, '{}') LOOP EXECUTE statement; END LOOP;
END $$;
"""
_COUNT_TABLES = """
    SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
READER_ROLE = Path(storage.__file__).parents[1] / "migrations" / "sql" / "reader_role.sql"


@dataclass(slots=True)
class BackupDone:
    """What is in a backup. missing: files that rows name and that were not there before either."""

    files: int = 0
    bytes: int = 0
    missing: int = 0
    sample: tuple[str, ...] = ()


def back_up(target: Path) -> BackupDone:
    """Write the folder, which may not be there yet; it has its name only once it is whole.

    Raises StackError: there is something already, or pg_dump fails; StorageUnavailable: another backup is
    being made, or a file cannot be read; OSError: the folder cannot be written.
    """
    if target.exists():
        raise StackError(f"{target} is there already; name a folder that is not.")
    programs = DatabasePrograms()
    part = target.with_name(f"{target.name}.part")
    with storage.hold_files():
        shutil.rmtree(part, ignore_errors=True)  # of one that was killed
        part.mkdir(mode=0o700, parents=True)
        try:
            done = _write(part, programs)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    os.sync()
    part.rename(target)
    return done


def _write(folder: Path, programs: DatabasePrograms) -> BackupDone:
    """Dump the database and copy the files at the same time, both of one snapshot."""
    with transaction.atomic():
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        execute("SET LOCAL statement_timeout = 0")
        (snapshot,) = execute("SELECT pg_export_snapshot()")[0]
        options = [
            "--format=custom",
            "--compress=1",
            "--no-owner",
            "--no-privileges",
            f"--snapshot={snapshot}",
        ]
        options += [f"--lock-wait-timeout={LOCK_TIMEOUT_MS}", f"--file={folder / DUMP}"]
        with tempfile.TemporaryFile() as errors:
            dump = programs.start("pg_dump", *options, stdin=subprocess.DEVNULL, stderr=errors)
            try:
                done = _copy_files(folder / FILES)
                finish(dump, errors, "pg_dump")
            finally:
                dump.kill()
                dump.wait()
        applied = sorted(MigrationRecorder(connection).applied_migrations())
    key = settings.DATA_DIR / SECRET_KEY_FILE
    if key.exists() and not settings.ENV.knowlex_secret_key:
        _copy_private(key, folder / SECRET_KEY_FILE)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "created_at": timezone.now().isoformat(),
        "postgresql": programs.server_major,
        "migrations": applied,
        **asdict(done),
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))
    return done


def _copy_files(folder: Path) -> BackupDone:
    done = BackupDone()
    folder.mkdir(mode=0o700)
    with connection.chunked_cursor() as rows:
        rows.execute(_FILES_OF_ROWS)
        while block := rows.fetchmany(_ROWS_AT_ONCE):
            for (name,) in block:
                try:
                    source = storage.open_file(name)
                except FileNotFoundError:
                    done.missing += 1
                    done.sample = (*done.sample, name)[:_SAMPLE]
                    continue
                path = folder / name
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy, storage.BLOCK)
                    done.bytes += copy.tell()
                done.files += 1
    return done


def restore(source: Path, *, replace: bool, say: Callable[[str], None]) -> None:
    """Put database, files and secret key of a backup in place of what is here; migrations are the caller's.

    replace: also where there is something already, which is lost. Raises StackError: it is no whole backup,
    of a newer Knowlex, something is here already, somebody works with the database, or PostgreSQL's programs
    fail; StorageUnavailable, OSError.
    """
    manifest = _read_manifest(source)
    programs = DatabasePrograms()
    if manifest["postgresql"] > programs.server_major:
        raise StackError(
            f"The backup is of PostgreSQL {manifest['postgresql']}, the database here is older "
            f"({programs.server_major})."
        )
    _refuse_to_lose(replace=replace)
    settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    marker = unfinished_restore(settings.DATA_DIR)
    was_whole = not marker.exists()
    marker.write_text(
        f"A restore of {source} began here at {timezone.now():%Y-%m-%d %H:%M} UTC and has not ended."
    )
    say(f"Restoring the backup of {manifest['created_at'][:16]}: {manifest['files']} files")
    try:
        _restore_files(source / FILES)
        say("and the database")
        connection.close()
        _restore_database(source / DUMP, programs)
    except (StackError, KnowlexError, OSError):  # nothing is committed; the files belong to no row
        if was_whole:
            marker.unlink()
        raise
    if (source / SECRET_KEY_FILE).exists():
        _copy_private(source / SECRET_KEY_FILE, settings.DATA_DIR / SECRET_KEY_FILE)
    os.sync()
    marker.unlink()
    execute("ANALYZE")


def _read_manifest(source: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((source / MANIFEST).read_text())
    except (OSError, ValueError):
        raise StackError(f"{source} is no whole backup: it has no readable {MANIFEST}.") from None
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise StackError(f"{source} is no backup that this Knowlex can read.")
    known = MigrationLoader(None).disk_migrations
    ours = {app for app, _ in known}
    newer = [
        f"{app}.{name}" for app, name in manifest["migrations"] if app in ours and (app, name) not in known
    ]
    replaced = {f"{app}.{name}" for row in known.values() for app, name in row.replaces}
    if unknown := sorted(set(newer) - replaced):
        raise StackError(f"A newer Knowlex made this backup: this one has no migration {unknown[0]}.")
    return manifest


def _refuse_to_lose(*, replace: bool) -> None:
    (tables,), (others,) = execute(_COUNT_TABLES)[0], execute(_OTHERS)[0]
    name = connection.settings_dict["NAME"]
    if tables and not replace:
        raise StackError(
            f"The database {name} holds {tables} tables already. --replace deletes all of them, and puts the "
            "backup in their place."
        )
    if others:
        raise StackError(
            f"Others are connected to the database {name} ({others}): stop web servers and workers."
        )


def _restore_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                storage.file_store().put(str(path.relative_to(folder)), file)


def _restore_database(dump: Path, programs: DatabasePrograms) -> None:
    """Load the dump in one transaction, which is committed only if pg_restore has read all of it.

    Without the vector indexes: these need memory by the number of rows, which who builds them later knows
    (embeddings.indexing). pg_restore writes into psql's input itself; nothing passes through this process.
    """
    with (
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as reading,
        tempfile.NamedTemporaryFile() as contents,
    ):
        contents.write(_list_contents(dump, programs))
        contents.flush()
        load = programs.start(
            "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null",
            stdin=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        script = None
        try:
            assert load.stdin is not None
            with suppress(BrokenPipeError), load.stdin as into:
                into.write(f"BEGIN;\n{_CLEAR}\n".encode())
                into.flush()
                script = programs.start(
                    "pg_restore", "--file=-", "--no-owner", "--no-privileges", "--no-comments",
                    f"--use-list={contents.name}", str(dump), stdout=into, stderr=reading,
                )  # fmt: skip
                if script.wait() == 0:
                    role = READER_ROLE.read_text(encoding="utf-8")
                    into.write(f"RESET search_path;\n{role}\nCOMMIT;\n".encode())
            if script is not None and script.returncode > 0:  # below 0 it was ended by what psql did
                finish(script, reading, "pg_restore")
            finish(load, errors, "psql")
            if script is not None:
                finish(script, reading, "pg_restore")
        finally:
            for process in (script, load):
                if process is not None:
                    process.kill()
                    process.wait()


def _list_contents(dump: Path, programs: DatabasePrograms) -> bytes:
    """Return what is in the dump, in pg_restore's own words, but for the vector indexes."""
    with tempfile.TemporaryFile() as errors:
        listing = programs.start("pg_restore", "--list", str(dump), stdout=subprocess.PIPE, stderr=errors)
        lines = listing.communicate()[0].splitlines(keepends=True)
        finish(listing, errors, "pg_restore")
    return b"".join(line for line in lines if f" {PREFIX}".encode() not in line or b" INDEX " not in line)


def _copy_private(source: Path, target: Path) -> None:
    """Copy a secret: readable by the owner only, from the first byte on."""
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(source.read_bytes())
    Path(file.name).replace(target)
