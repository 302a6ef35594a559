"""A real WebDAV server on loopback (WsgiDAV): `/dav` asks for a password, `/open` for none."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.servers import ServerProcess

USER, PASSWORD = "ann", "a pass word"
_RUN = """
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
host, port, root, user, password = sys.argv[1:]
app = WsgiDAVApp({
    "provider_mapping": {"/dav": root, "/open": root},
    "simple_dc": {"user_mapping": {"/dav": {user: {"password": password}}, "/open": True, "*": True}},
    "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
    "logging": {"enable": False}, "verbose": 1,
})
server = wsgi.Server((host, int(port)), app, numthreads=4)
server.start()
"""


class WebdavServer(ServerProcess):
    """`files` is the folder that it serves."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, health="/open/")
        self.files = folder / "files"
        self.files.mkdir(parents=True, exist_ok=True)

    def command(self) -> Sequence[str]:
        return ["-c", _RUN, self.address, str(self.port), str(self.files), USER, PASSWORD]
