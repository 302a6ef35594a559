"""What the provider does wrong, and for which requests."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Literal

Kind = Literal["embeddings", "chat", "models", "rerank", "load", "*"]

PLAIN_FAULTS = {
    "status",
    "hang",
    "slow",
    "hold",
    "reset",
    "close",
    "half",
    "cut",
    "html",
    "empty",
    "null",
    "list",
}
PLAIN_FAULTS |= {"bad_utf8", "huge", "compressed"}
# An error's body with status 200, a route that an older release does not have, a reply without the text.
PLAIN_FAULTS |= {"error_200", "no_route", "no_text"}
# In the middle of a streamed reply, after `after` pieces of text (None: half of them): it ends as if it were
# whole, the connection is reset or closed, nothing comes any more, nothing comes until `Provider.release`, an
# error event comes, or a line of garbage.
STREAM_FAULTS = {"stream_cut", "stream_reset", "stream_close", "stream_stall", "stream_hold", "stream_error"}
STREAM_FAULTS |= {"stream_garbage"}
WHOLE_OR_NOT = {
    "unstreamed",
    "streamed",
    "schema_ignored",
    "uncounted",
    "limited",
}  # a whole reply to who asked for a stream, and the other way round;
# text to who asked for JSON; a whole reply that says nothing of its tokens; one cut at its limit.
ROW_FAULTS = {"fewer", "more", "reversed", "shuffled", "duplicate_index", "missing_index", "missing_data"}
VECTOR_FAULTS = {"null_vector", "wrong_length", "mixed_length", "nan", "infinity", "zero", "equal"}
SCORE_FAULTS = {"score_nan", "score_text", "score_missing", "index_beyond", "index_twice", "one_missing"}
FAULTS = frozenset(SCORE_FAULTS | PLAIN_FAULTS | STREAM_FAULTS | WHOLE_OR_NOT | ROW_FAULTS | VECTOR_FAULTS)


@dataclass
class Rule:
    """One misbehaviour. The first rule that matches a request is used and, if it has `times`, counted down.

    fault: a name in FAULTS. on: which endpoint. times: None = for ever.
    contains: only requests with a text (or a prompt) that holds it. model: only those to this one.
    holding: only those whose body has this field. path: only those to this route.
    rate: share of matching ones, by `seed`.
    after: pieces of a stream that come before its fault strikes.
    status, retry_after_s: for "status". seconds: for "slow". A held request goes on normally when released.
    """

    fault: str
    on: Kind = "*"
    times: int | None = None
    contains: str = ""
    model: str = ""
    holding: str = ""
    path: str = ""
    after: int | None = None
    rate: float = 1.0
    seed: int = 0
    status: int = 500
    message: str = "the provider says no"
    retry_after_s: float | None = None
    seconds: float = 0.0
    used: int = 0
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.fault not in FAULTS:
            raise ValueError(f"unknown fault {self.fault!r}")
        self._random = random.Random(self.seed)

    def matches(self, kind: str, texts: Sequence[str], body: Mapping[str, Any], path: str) -> bool:
        if self.path not in ("", path):
            return False
        if self.on not in ("*", kind) or (self.times is not None and self.used >= self.times):
            return False
        if self.model not in ("", str(body.get("model"))) or (self.holding and self.holding not in body):
            return False
        if self.contains and not any(self.contains in text for text in texts):
            return False
        return self.rate >= 1.0 or self._random.random() < self.rate


class RuleBook:
    """The rules in force; read by the server's thread, written by the test's."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rules: list[Rule] = []

    def add(self, **fields: Any) -> Rule:
        rule = Rule(**fields)
        with self._lock:
            self._rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        with self._lock:
            self._rules = [kept for kept in self._rules if kept is not rule]

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def match(self, kind: str, texts: Sequence[str], body: Mapping[str, Any], path: str) -> Rule | None:
        with self._lock:
            for rule in self._rules:
                if rule.matches(kind, texts, body, path):
                    rule.used += 1
                    return rule
        return None
