"""One part that `up` keeps running: restarts, pauses, giving up, and patience with what is slow."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from knowlex.embedded import keeping
from knowlex.embedded.data_folder import StackError
from knowlex.embedded.keeping import PAUSES_S, QUICK_S, KeptPart, wait_until_ready
from knowlex.embedded.processes import Part
from tests.support.waiting import wait_until

IDLE = "import time; time.sleep(600)"
FAILING = "print('no room left'); raise SystemExit(3)"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Kept:
    """A kept part of one small process, with a clock that the test moves."""

    def __init__(self, folder: Path, program: str = IDLE) -> None:
        self.part = Part("The part", [sys.executable, "-c", program], folder / "part.log")
        self.clock, self.said, self.is_ready, self.is_disk_full = Clock(), list[str](), True, False
        self.kept = KeptPart(
            "part",
            self.part,
            start=self.part.start,
            is_ready=lambda: self.is_ready,
            is_disk_full=lambda: self.is_disk_full,
            say=self.said.append,
            clock=self.clock,
        )

    @property
    def state(self) -> str:
        return self.kept.state.state

    def serve(self) -> None:
        """Start it, and see it serve."""
        self.kept.look()
        self.kept.look()
        assert self.state == "running"

    def die(self) -> None:
        """Kill it, and have that seen."""
        assert self.part._process is not None
        self.part._process.kill()
        self.see_end()

    def see_end(self) -> None:
        wait_until(lambda: not self.part.running)
        self.kept.look()

    def pause(self) -> float:
        """Move the clock until it is started again; return by how much."""
        began = self.clock.now
        self.kept.look()
        while self.state == "waiting":
            self.clock.now += 0.125
            self.kept.look()
        return self.clock.now - began


@pytest.fixture
def make_kept(tmp_path: Path) -> Iterator[Callable[..., Kept]]:
    made: list[Kept] = []

    def make(program: str = IDLE) -> Kept:
        made.append(Kept(tmp_path, program))
        return made[-1]

    yield make
    for kept in made:
        kept.part.stop(at_once=True)


def test_quick_deaths_have_longer_and_longer_pauses_and_are_too_many_at_last(
    make_kept: Callable[..., Kept],
) -> None:
    kept = make_kept()
    kept.serve()

    pauses = []
    for _ in PAUSES_S:
        kept.die()
        pauses.append(kept.pause())
        kept.kept.look()
    with pytest.raises(StackError, match=r"^The part was killed by SIGKILL\.") as given_up:
        kept.die()

    assert pauses == list(PAUSES_S)
    assert f"The part was started again {len(PAUSES_S)} times" in str(given_up.value)
    assert (kept.kept.state.restarts, kept.kept.state.last_end) == (len(PAUSES_S), "was killed by SIGKILL")


def test_on_a_full_disk_a_part_is_started_again_until_there_is_room(make_kept: Callable[..., Kept]) -> None:
    kept = make_kept()
    kept.serve()
    kept.is_disk_full = True

    pauses = []
    for _ in range(2 * len(PAUSES_S)):
        kept.die()
        pauses.append(kept.pause())
        kept.kept.look()

    assert pauses[len(PAUSES_S) :] == [PAUSES_S[-1]] * len(PAUSES_S)
    assert "The part was killed by SIGKILL. The disk is full. It is started again in 4 s" in kept.said[-2]
    kept.is_disk_full = False
    with pytest.raises(StackError, match="Knowlex gives up"):
        kept.die()


def test_a_part_that_served_for_a_while_is_started_again_at_once_however_often(
    make_kept: Callable[..., Kept],
) -> None:
    kept = make_kept()
    kept.serve()

    for _ in range(2 * len(PAUSES_S)):
        kept.clock.now += QUICK_S
        kept.die()
        assert kept.pause() == 0
        kept.kept.look()

    assert kept.kept.state.restarts == 2 * len(PAUSES_S)
    assert kept.said[-1].endswith("The part serves again, after 0.0 s.")


def test_a_part_that_never_served_is_not_started_again(make_kept: Callable[..., Kept]) -> None:
    kept = make_kept(FAILING)
    kept.is_ready = False
    kept.kept.look()

    with pytest.raises(
        StackError, match=r"^The part ended with exit code 3\. Its log, .* ends:\n    no room left$"
    ):
        kept.see_end()


def test_a_restart_that_does_not_come_to_serve_is_another_quick_death(make_kept: Callable[..., Kept]) -> None:
    kept = make_kept()
    kept.serve()
    kept.clock.now += QUICK_S
    kept.die()
    kept.is_ready = False
    kept.kept.look()
    kept.clock.now += 100

    kept.die()

    assert kept.pause() == PAUSES_S[1]


def test_a_part_that_cannot_be_started_again_for_want_of_memory_is_tried_later(
    make_kept: Callable[..., Kept], tmp_path: Path
) -> None:
    kept = make_kept()
    kept.serve()
    kept.clock.now += QUICK_S
    command, kept.part.command = kept.part.command, [str(tmp_path / "nowhere")]  # the same OSError as ENOMEM
    kept.die()
    kept.kept.look()
    assert kept.state == "waiting"

    kept.part.command = command
    kept.pause()
    kept.kept.look()

    assert kept.state == "running"
    assert "cannot be started" in kept.said[-2]


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "STALLED_S", 0.5)
    monkeypatch.setattr(keeping, "LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(keeping, "LEAST_CPU_S", 0.05)


@pytest.mark.usefixtures("_impatient")
def test_a_part_at_work_is_waited_for_however_long_it_takes(tmp_path: Path) -> None:
    """In three times the patience; the work is a child's."""
    program = (
        "import subprocess, sys, time\n"
        "busy = 'import time, pathlib, sys\\n'\n"
        "busy += 'while time.process_time() < 1.5: pass\\n'\n"
        "busy += 'pathlib.Path(sys.argv[1]).touch(); time.sleep(600)'\n"
        "subprocess.run([sys.executable, '-c', busy, sys.argv[1]])"
    )
    done = tmp_path / "done"
    part = Part("The part", [sys.executable, "-c", program, str(done)], tmp_path / "part.log")
    part.start()
    try:
        wait_until_ready(part, done.exists)
    finally:
        part.stop(at_once=True)


@pytest.mark.usefixtures("_impatient")
def test_a_part_that_does_nothing_is_not(tmp_path: Path) -> None:
    part = Part("The part", [sys.executable, "-c", IDLE], tmp_path / "part.log")
    part.start()
    try:
        with pytest.raises(StackError, match=r"^The part did not answer, and did nothing for "):
            wait_until_ready(part, lambda: False)
    finally:
        part.stop(at_once=True)


@pytest.mark.usefixtures("_impatient")
def test_a_restart_that_does_nothing_is_ended_and_tried_again(make_kept: Callable[..., Kept]) -> None:
    kept = make_kept()
    kept.serve()
    kept.clock.now += QUICK_S
    kept.die()
    kept.is_ready = False

    def look_until_ended() -> bool:
        kept.kept.look()
        return kept.state == "waiting"

    kept.kept.look()
    wait_until(look_until_ended)
    kept.is_ready = True
    kept.pause()
    kept.kept.look()

    assert kept.state == "running"
    assert any("did not answer, and did nothing" in line for line in kept.said)
