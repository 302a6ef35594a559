"""One child process of the stack, by itself."""

import fcntl
import os
import sys
import tracemalloc
from pathlib import Path

import psutil
import pytest

from knowlex.embedded.data_folder import StackError
from knowlex.embedded.processes import MAX_LOG_BYTES, Part
from knowlex.embedded.services import MAJOR, EmbeddedPostgres, open_users_lock
from tests.support import environment
from tests.support.waiting import wait_until


def test_who_ended_is_told_with_the_end_of_a_log_of_any_size(tmp_path: Path) -> None:
    program = "print('one'); print('no room left'); raise SystemExit(3)"
    part = Part("the worker", [sys.executable, "-c", program], tmp_path / "worker.log")
    part.log.write_text("what was said in all these months\n" * 200_000)
    part.start()
    wait_until(lambda: not part.running)

    tracemalloc.start()
    told = part.describe_end(lines=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert told.startswith("the worker ended with exit code 3.")
    assert told.endswith(" ends:\n    one\n    no room left")
    assert most < 1024 * 1024


def test_a_log_that_grows_is_emptied_while_its_part_goes_on_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowlex.embedded.processes.MAX_LOG_BYTES", 1000)
    program = "import sys\nfor line in open(sys.argv[1]): print(line.strip() * 100, flush=True)"
    lines = tmp_path / "lines"
    os.mkfifo(lines)
    part = Part("the worker", [sys.executable, "-c", program, str(lines)], tmp_path / "worker.log")
    part.start()
    try:
        with lines.open("w", buffering=1) as say:
            kept = []
            for said in ("first", "second", "third"):
                say.write("small\n")
                wait_until(lambda: part.log.stat().st_size == 501)
                part.trim_log()
                say.write(f"{said}\n")
                wait_until(lambda: part.log.stat().st_size > 1000)
                part.trim_log()
                kept.append((tmp_path / "worker.log.1").read_text())
                assert part.log.read_bytes() == b""
    finally:
        part.stop()

    assert kept == [f"{'small' * 100}\n{said * 100}\n" for said in ("first", "second", "third")]


def test_a_log_goes_even_where_no_copy_can_be_made_of_it(tmp_path: Path) -> None:
    part = Part("the worker", [sys.executable, "-c", ""], tmp_path / "worker.log")
    part.trim_log()
    (tmp_path / "worker.log.1").mkdir()
    part.log.write_bytes(b"x" * (MAX_LOG_BYTES + 1))

    part.trim_log()

    assert part.log.read_bytes() == b""


def test_a_session_that_outlives_its_server_does_not_hold_up_the_next(tmp_path: Path) -> None:
    """It computes, so it does not notice that the server was killed, and holds the server's memory."""
    server = EmbeddedPostgres(tmp_path)
    server.start()
    server.wait_ready()
    try:
        session = server.connect()
        backend = psutil.Process(session.info.backend_pid)
        session.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 100000000000)")
        wait_until(lambda: backend.cpu_times().user > 0.2, what="a session that computes")
        assert server.part.pid is not None
        psutil.Process(server.part.pid).kill()
        wait_until(lambda: not server.part.running)
        assert backend.is_running()

        server.start()
        server.wait_ready()

        assert server.is_ready()
        assert not backend.is_running()
    finally:
        server.part.stop()


def test_data_of_another_postgresql_are_refused_with_the_way_to_take(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    server.folder.mkdir()
    (server.folder / "PG_VERSION").write_text(f"{MAJOR - 1}\n")
    with pytest.raises(StackError, match=f"are of PostgreSQL {MAJOR - 1}; .*manage.py backup.*restore"):
        server.start()
    assert [path.name for path in server.folder.iterdir()] == ["PG_VERSION"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of another account")
def test_a_lock_that_root_made_is_locked_by_others_too() -> None:
    folder = environment.FOLDER  # open to others, as pytest's own is not
    open_users_lock(folder).close()
    os.seteuid(4_000_000)
    try:
        with open_users_lock(folder) as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            assert not users.writable()
    finally:
        os.seteuid(0)
