"""What the provider is set to, and what it has been asked."""

from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.support.provider import answers
from tests.support.provider.log import Log
from tests.support.provider.ollama_models import OllamaModels
from tests.support.provider.rules import Rule, RuleBook

DEFAULT_ANSWER = answers.cite([1])


@dataclass
class State:
    """All that tests set and read.

    latency_s: how long each model call takes when all is well. piece_chars, pause_s: of streamed replies, the
    characters of each piece and the wait after it. ollama: what Ollama has pulled and loaded.
    """

    rules: RuleBook = field(default_factory=RuleBook)
    log: Log = field(default_factory=Log)
    answer: answers.Answer = DEFAULT_ANSWER
    latency_s: float = 0.0
    piece_chars: int | None = None
    pause_s: float = 0.0
    released: Event = field(default_factory=Event)
    ollama: OllamaModels = field(default_factory=OllamaModels)

    def reset(self) -> None:
        self.rules.clear()
        self.log.clear()
        self.answer = DEFAULT_ANSWER
        self.latency_s = self.pause_s = 0.0
        self.piece_chars = None
        self.ollama = OllamaModels()
        self.release()

    def hold(self, **fields: Any) -> Rule:
        """Requests that match stop before they are answered, or in the middle, until `release`."""
        self.released.clear()
        return self.rules.add(**{"fault": "hold"} | fields)

    def release(self) -> None:
        self.released.set()
