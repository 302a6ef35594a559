"""Which models Ollama has, and which of them are in memory: the first question waits for the weights."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

NATIVE_DIMENSIONS = {"nomic-embed-text": 768, "mxbai-embed-large": 1024, "all-minilm": 384}
PULLED = ("llama3.2:1b", "nomic-embed-text:latest", "all-minilm:latest")
Loaded = tuple[str, int]  # a model, and the window it was loaded with


@dataclass
class OllamaModels:
    """pulled: what /api/tags lists. strict: any other is answered 404, as Ollama does; else all are there.

    load_s: how long a model takes to load; when nobody waits for it any more, that stops, as Ollama's does.
    """

    pulled: tuple[str, ...] = PULLED
    strict: bool = False
    load_s: float = 0.0
    loaded: set[Loaded] = field(default_factory=set)
    loads: Counter[str] = field(default_factory=Counter)
    _locks: dict[Loaded, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    def has(self, model: str) -> bool:
        return not self.strict or tagged(model) in map(tagged, self.pulled)

    async def load(self, body: dict[str, Any]) -> None:
        """Another window is another load."""
        wanted = tagged(str(body.get("model"))), int((body.get("options") or {}).get("num_ctx") or 0)
        async with self._locks[wanted]:
            if wanted not in self.loaded:
                self.loads[wanted[0]] += 1
                await asyncio.sleep(self.load_s)
                self.loaded = {kept for kept in self.loaded if kept[0] != wanted[0]} | {wanted}
        if body.get("keep_alive") == 0:
            self.loaded.discard(wanted)


def tagged(model: str) -> str:
    return model if ":" in model else f"{model}:latest"


def dimensions_of(model: str) -> int:
    return NATIVE_DIMENSIONS.get(model.partition(":")[0], 384)
