"""Commands on a data folder where nothing runs: the database is there for them, and gone afterwards."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from knowlex import cli
from knowlex.cli import needs_database
from knowlex.embedded import data_folder
from knowlex.openapi import INFO
from tests.stack.up import environment, manage
from tests.support.environment import PROJECT

COUNT = "from django.contrib.auth.models import User; print(User.objects.count())"


@pytest.mark.slow
def test_commands_at_the_same_time_share_one_database_and_the_last_stops_it(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    assert manage("prepare", KNOWLEX_DATA_DIR=str(data_dir)).returncode == 0

    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", COUNT]
    both = [
        subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment(KNOWLEX_DATA_DIR=str(data_dir)),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]

    assert [process.communicate(timeout=60)[0].strip() for process in both] == ["1", "1"]
    assert not (data_folder.postgres_dir(data_dir) / "postmaster.pid").exists()


def test_a_folder_whose_path_is_too_long_for_a_socket_works_too(tmp_path: Path) -> None:
    data_dir = tmp_path / ("a long name, with a comma and blanks " * 4).strip()

    told = manage("migrate", "--check", "-v", "0", KNOWLEX_DATA_DIR=str(data_dir))

    sockets = data_folder.socket_dir(data_dir.resolve(), "postgres")
    assert told.returncode == 1, told.stderr  # it has looked: nothing is migrated yet
    assert "Traceback" not in told.stderr
    assert sockets.parent == Path("/tmp")
    assert sockets.stat().st_mode & 0o077 == 0
    sockets.rmdir()


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["migrate"], True),
        (["createsuperuser"], True),
        (["check"], False),
        (["check", "--database", "default"], True),
        (["help"], False),
        (["migrate", "--help"], False),
        (["--version"], False),
        ([], False),
        (["up"], False),
    ],
)
def test_only_what_needs_the_database_starts_it(words: list[str], needed: bool) -> None:
    assert needs_database(["manage.py", *words]) is needed


def test_a_mistyped_command_is_told_and_makes_no_database(tmp_path: Path) -> None:
    told = manage("upp", KNOWLEX_DATA_DIR=str(tmp_path))

    assert told.returncode == 1
    assert "Did you mean up?" in told.stderr
    assert not data_folder.postgres_dir(tmp_path).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL has another account only where root starts it")
def test_a_copy_of_a_data_folder_that_is_all_roots_is_used_like_the_first(tmp_path: Path) -> None:
    assert manage("migrate", "-v", "0", KNOWLEX_DATA_DIR=str(tmp_path / "first")).returncode == 0
    shutil.copytree(tmp_path / "first", tmp_path / "copy")  # drops owners, as `cp -r` does

    told = manage("migrate", "--check", KNOWLEX_DATA_DIR=str(tmp_path / "copy"))

    assert told.returncode == 0, told.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write anywhere")
def test_root_is_refused_a_folder_from_which_another_account_serves(tmp_path: Path) -> None:
    lock = tmp_path / "instance.lock"
    lock.touch()
    os.chown(lock, 4_000_000, 4_000_000)

    told = manage("list_api_keys", KNOWLEX_DATA_DIR=str(tmp_path))

    assert told.returncode == 1
    said = f"knowlex: {tmp_path} belongs to another account: use `sudo -u '#4000000' …`.\n"
    assert (told.stderr, [*tmp_path.iterdir()]) == (said, [lock])


def test_the_version_is_that_of_the_api_and_needs_no_data_folder(tmp_path: Path) -> None:
    for word in ("version", "--version"):
        told = manage(word, KNOWLEX_DATA_DIR=str(tmp_path / "new"))
        assert (told.returncode, told.stdout) == (0, f"Knowlex {INFO['version']}\n")
    assert not (tmp_path / "new").exists()


def test_what_is_no_backup_makes_no_data_folder(tmp_path: Path) -> None:
    told = manage("restore", str(tmp_path / "nope"), "--data-dir", str(tmp_path / "new"))

    assert told.returncode == 1
    assert told.stderr == f"knowlex: {tmp_path / 'nope'} is no whole backup: it has no backup.json.\n"
    assert not (tmp_path / "new").exists()


def test_an_unset_variable_as_the_data_folder_does_not_mean_the_current_folder() -> None:
    told = manage("prepare", "--data-dir", "")

    assert (told.returncode, told.stderr) == (1, "knowlex: --data-dir names no folder.\n")


def test_who_stops_reading_ends_a_command_without_a_word() -> None:
    """As `manage.py help | head` does."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as pipe:
        command = [sys.executable, "manage.py", "help"]
        told = subprocess.run(command, cwd=PROJECT, stdout=pipe, stderr=subprocess.PIPE, timeout=60)

    assert (told.returncode, told.stderr) == (141, b"")


def test_help_asks_for_no_data_folder_where_several_servers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = {Path("/one"): "http://127.0.0.1:1", Path("/two"): "http://127.0.0.1:2"}
    monkeypatch.setattr(cli, "running_servers", lambda: servers)
    monkeypatch.setattr(cli, "PROJECT_DIR", Path("/nowhere"))
    monkeypatch.delenv("KNOWLEX_DATA_DIR", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    executed: list[list[str]] = []
    monkeypatch.setattr(cli, "_execute", executed.append)

    cli.main(["manage.py", "changepassword", "--help"])

    assert executed == [["manage.py", "changepassword", "--help"]]
    with pytest.raises(SystemExit, match="Several servers run"):
        cli.main(["manage.py", "changepassword", "admin"])


def test_help_of_a_command_names_the_option_that_all_have() -> None:
    assert "--data-dir" in manage("ask", "--help").stdout


def test_a_database_without_tables_is_told_in_one_line(tmp_path: Path) -> None:
    told = manage("list_api_keys", KNOWLEX_DATA_DIR=str(tmp_path / "new"))

    assert told.returncode == 1
    assert "manage.py prepare" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_database_that_cannot_be_reached_is_told_in_one_line(tmp_path: Path) -> None:
    told = manage(
        "migrate", KNOWLEX_DATA_DIR=str(tmp_path), DATABASE_URL="postgresql://nobody@127.0.0.1:1/knowlex"
    )

    assert told.returncode != 0
    assert "DATABASE_URL" in told.stderr
    assert "Traceback" not in told.stderr
