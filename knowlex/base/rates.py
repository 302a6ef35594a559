"""A rate such as "600/min". Plain Python: the environment is checked with it before Django is there."""

import re
from dataclasses import dataclass
from typing import Self

_SECONDS = {
    **{"s": 1, "sec": 1, "second": 1},
    **{"m": 60, "min": 60, "minute": 60},
    **{"h": 3600, "hour": 3600, "d": 86400, "day": 86400},
}
_RATE = re.compile(r"([0-9]{1,9})\s*/\s*([a-z]+?)s?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rate:
    """`requests` in each window of `window_s` seconds."""

    requests: int
    window_s: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse it; None means no limit ("off" or "0"). Raises ValueError, saying what is understood."""
        text = text.strip().lower()
        if text in ("off", "0"):
            return None
        match = _RATE.fullmatch(text)
        if match is None or match[2] not in _SECONDS or int(match[1]) == 0:
            raise ValueError("must be off, or a number and a unit such as 600/min, 10/s or 1000/hour")
        return cls(int(match[1]), _SECONDS[match[2]])
