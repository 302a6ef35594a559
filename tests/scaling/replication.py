"""A primary and a streaming replica of PostgreSQL, in folders of their own."""

import subprocess
from pathlib import Path

from knowlex.embedded import data_folder
from knowlex.embedded.processes import private_folder, service_account
from knowlex.embedded.services import bin_dir
from tests.support.postgres import Postgres

PRIMARY = {"wal_level": "replica", "max_wal_senders": "4", "wal_receiver_status_interval": "1s"}


def replica_of(primary: Postgres, data_dir: Path) -> Postgres:
    """Follows the primary as it was told by pg_basebackup; read-only."""
    data_dir.mkdir(parents=True)
    folder = data_folder.postgres_dir(data_dir)
    account = service_account(folder)
    private_folder(folder, account)
    copied = subprocess.run(
        [
            str(bin_dir() / "pg_basebackup"),
            *("-h", str(data_folder.socket_dir(primary.data_dir, "postgres")), "-U", "postgres"),
            *("-D", str(folder), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
        ],
        capture_output=True,
        text=True,
        cwd="/",
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    assert copied.returncode == 0, copied.stderr
    return Postgres(data_dir, **PRIMARY)
