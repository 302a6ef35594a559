"""A web server behind PgBouncer in transaction mode, which gives each transaction another connection."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from knowlex.embedded import data_folder
from knowlex.embedded.processes import service_account
from tests.platform import talk
from tests.scaling.conftest import other_host
from tests.support import api, environment
from tests.support.stack import Stack
from tests.support.waiting import wait_until

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PGBOUNCER, reason="there is no PgBouncer here")]
CONFIGURATION = """
[databases]
* = host={sockets} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
logfile = {folder}/pgbouncer.log
"""


@pytest.fixture
def pooled(server: Stack, tmp_path: Path) -> Iterator[httpx.Client]:
    """A second web server, on three connections of PostgreSQL's."""
    folder = environment.FOLDER / "pgbouncer"
    sockets = data_folder.socket_dir(server.postgres.data_dir, "postgres")
    account = service_account(sockets)
    folder.mkdir()
    server.postgres.data_dir.chmod(0o711)  # so that its account can walk to the sockets
    (folder / "pgbouncer.ini").write_text(CONFIGURATION.format(folder=folder, sockets=sockets))
    if account:
        shutil.chown(folder, account.uid, account.gid)
    command = [str(PGBOUNCER), "-q", str(folder / "pgbouncer.ini")]
    pooler = subprocess.Popen(
        command, cwd="/", user=account and account.uid, group=account and account.gid,
        extra_groups=[] if account else None,
    )  # fmt: skip
    try:
        wait_until((folder / ".s.PGSQL.6432").exists, what="PgBouncer")
        url = f"postgresql://postgres@{quote(str(folder), safe='')}:6432/{server.database}"
        host = other_host(server, tmp_path / "data") | {"DATABASE_URL": url}
        with server.another_web(**host) as client:
            yield client
    finally:
        pooler.terminate()
        pooler.wait(10)


def test_a_web_server_serves_through_a_pooler(server: Stack, pooled: httpx.Client) -> None:
    ids = [talk.stored(pooled, talk.text(f"The lamp in room {n} is green.", f"{n}.txt")) for n in range(12)]

    def asked(room: int) -> list[str]:
        reply = pooled.post("/v1/query", json={"query": f"What colour is the lamp in room {room}?"})
        assert reply.status_code == 200, reply.text
        return [one["document_id"] for one in reply.json()["sources"]]

    for _ in range(3):  # more often than a statement is run before it is prepared, and side by side
        answers = api.together([lambda room=room: asked(room) for room in range(12)])  # type: ignore[misc]
        assert [ids[room] in found for room, found in enumerate(answers)] == [True] * 12
    assert len(pooled.get("/v1/queries").json()["queries"]) >= 20
    assert pooled.delete(f"/v1/documents/{ids[3]}").status_code < 300
    assert ids[3] not in asked(3)
