"""One part of the stack, kept running: started, waited for, started again when it ends, given up at last."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import psutil

from knowlex.base.times import utc_timestamp
from knowlex.embedded.data_folder import StackError
from knowlex.embedded.processes import Part
from knowlex.runtime.parts import PartState

STALLED_S = 60.0
LEAST_CPU_S, LEAST_BYTES = 0.5, 1024 * 1024  # what only waits, and looks now and then, takes less of both
LOOK_EVERY_S = 1.0
QUICK_S = 5.0  # a life that is shorter, from when it serves, is a quick death
PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0)  # before the start after the first, second … quick death in a row


class Patience:
    """Waits for a part that does not answer yet, as long as it is at work: starting takes a slow machine
    minutes, and so does a database that recovers.

    At work is what takes half a second of CPU, or reads or writes a MiB, in STALLED_S, children included.
    """

    def __init__(self, part: Part) -> None:
        self._part, self._since = part, time.monotonic()
        self._looked_at, self._done = self._since, (0.0, 0)

    def is_over(self) -> bool:
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY_S:
            return False
        self._looked_at, done = now, _work_done(self._part.pid)
        if abs(done[0] - self._done[0]) >= LEAST_CPU_S or abs(done[1] - self._done[1]) >= LEAST_BYTES:
            self._since, self._done = now, done
        return now - self._since > STALLED_S


def _work_done(pid: int | None) -> tuple[float, int]:
    """Return the seconds of CPU, and the bytes read and written, of a process and its children so far."""
    seconds, size = 0.0, 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                seconds += sum(member.cpu_times()[:4])  # user, system, and of children that have ended
                if hasattr(member, "io_counters"):  # not on macOS
                    counters = member.io_counters()
                    size += counters.read_chars + counters.write_chars
    return seconds, size


def wait_until_ready(part: Part, is_ready: Callable[[], bool]) -> None:
    """Wait as long as the part is at work. Raises StackError if it ends, or neither serves nor works."""
    patience = Patience(part)
    while not is_ready():
        if not part.running:
            raise StackError(part.describe_end())
        if patience.is_over():
            raise StackError(_describe_stall(part))
        time.sleep(0.03)


class KeptPart:
    """The state machine: `starting` → `running` → (it ends) → `waiting` → `starting` …; `look` takes a step.

    A part that ends before it ever served is not started again: what is wrong then is to be told at once.
    Nor is one that ends again and again, unless the disk is full, which somebody will see to.

    key: its name in /health and /metrics. start: starts `part`; is_ready: whether it serves.
    """

    def __init__(
        self,
        key: str,
        part: Part,
        *,
        start: Callable[[], None],
        is_ready: Callable[[], bool],
        is_disk_full: Callable[[], bool],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.key, self.part = key, part
        self._start_part, self._is_ready, self._is_disk_full = start, is_ready, is_disk_full
        self._say, self._clock = say, clock
        self._state: Literal["starting", "running", "waiting"] = "waiting"
        self._due, self._ready_at, self._ended_at = clock(), 0.0, 0.0
        self._has_served, self._quick_deaths, self._restarts = False, 0, 0
        self._last_end, self._last_end_at = "", ""

    @property
    def state(self) -> PartState:
        return PartState(self._state, self._restarts, self._last_end, self._last_end_at)

    @property
    def serves(self) -> bool:
        return self._state == "running"

    def look(self) -> None:
        """Do what is due now. Raises StackError if the part is given up."""
        if self._state == "waiting":
            if self._clock() >= self._due:
                self._start()
        elif not self.part.running:
            self._note_end(self.part.end)
        elif self._state == "starting":
            self._look_whether_ready()

    def _start(self) -> None:
        try:
            self._start_part()
        except OSError as exc:  # no memory for another process, no descriptor
            self._note_end(f"cannot be started ({exc})")
            return
        self._state, self._patience = "starting", Patience(self.part)
        self._restarts += self._has_served

    def _look_whether_ready(self) -> None:
        if self._is_ready():
            self._state, self._ready_at = "running", self._clock()
            if self._has_served:
                after = self._ready_at - self._ended_at
                self._say(f"{utc_timestamp()} {self.part.name} serves again, after {after:.1f} s.")
            self._has_served = True
        elif self._patience.is_over():
            if not self._has_served:
                raise StackError(_describe_stall(self.part))
            self._say(_describe_stall(self.part))
            self.part.stop(at_once=True)

    def _note_end(self, how: str) -> None:
        """how: as what a sentence says of the part."""
        now = self._clock()
        if self._state == "running":
            self._ended_at = now
            if now - self._ready_at >= QUICK_S:
                self._quick_deaths = 0
        is_one_too_many = self._quick_deaths == len(PAUSES_S)
        if not self._has_served or (is_one_too_many and not self._is_disk_full()):
            raise StackError(self._describe_giving_up(how))
        self._quick_deaths += not is_one_too_many
        pause = PAUSES_S[self._quick_deaths - 1]
        self._last_end, self._last_end_at = how, utc_timestamp()
        self._say(
            f"{self._last_end_at} {self.part.name} {how}. "
            f"{'The disk is full. ' * is_one_too_many}It is started again "
            f"{f'in {pause:g} s' if pause else 'now'}; its log: {self.part.log}"
        )
        self.part.stop(at_once=True)  # what it left of its group
        self._state, self._due = "waiting", now + pause

    def _describe_giving_up(self, how: str) -> str:
        said = f"{self.part.name} {how}.{self.part.quote_log()}"
        if not self._has_served:
            return said
        return (
            f"{said}\n{self.part.name} was started again {len(PAUSES_S)} times, and never served for "
            f"{QUICK_S:.0f} s. Knowlex gives up."
        )


def _describe_stall(part: Part) -> str:
    return f"{part.name} did not answer, and did nothing for {STALLED_S:.0f} s; see {part.log}."
