"""A real Chroma server (1.x), as `chroma run` starts it; its records survive a kill in its folder."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.servers import ServerProcess

RUN = "import sys, chromadb_rust_bindings as chroma; chroma.cli(['chroma', 'run', *sys.argv[1:]])"


class ChromaServer(ServerProcess):
    """`with ChromaServer(folder) as chroma: ChromaClient(chroma.url)`; about a second to start."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, health="/api/v2/heartbeat")

    def command(self) -> Sequence[str]:
        place = ["--path", str(self.folder / "records"), "--host", "127.0.0.1", "--port", str(self.port)]
        return ["-c", RUN, *place]
