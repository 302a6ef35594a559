"""Two web processes on one socket, as `up` starts them: whichever answers, it is one server."""

from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from knowlex.embedded.data_folder import counts_dir
from tests.support import processes
from tests.support.api import together
from tests.support.stack import Stack, WebGroup
from tests.support.waiting import wait_until

NO_PROCESS = 4_194_303  # nearly the largest id that there can be


@pytest.fixture
def group(server: Stack) -> Iterator[WebGroup]:
    left_behind = counts_dir(server.folder) / str(NO_PROCESS)
    left_behind.mkdir(parents=True, exist_ok=True)
    with server.web_group(2) as group:
        assert not left_behind.exists()  # of an earlier start
        yield group


def scraped(group: WebGroup) -> dict[str, float]:
    """The sums of the samples of one scrape, by a new connection, which either of them may take."""
    sums: dict[str, float] = {}
    for family in text_string_to_metric_families(httpx.get(f"{group.url}/metrics").raise_for_status().text):
        for sample in family.samples:
            sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    return sums


class Asking:
    """Asks by new connections; count: how many questions were answered."""

    def __init__(self, server: Stack, group: WebGroup) -> None:
        self._server, self._url, self.count = server, group.url, 0

    def ask(self) -> None:
        body = {"query": "Is there anything?"}
        together([lambda: httpx.post(f"{self._url}/query", json=body, timeout=60).raise_for_status()] * 8)
        self.count += 8

    def until_both_answered(self) -> None:
        """Each has a log of its own; which of them takes a connection is the kernel's choice."""

        def answered(number: int) -> int:
            return self._server.log(f"web-{number}").count('"path": "/query", "status": 200')

        before = [answered(number) for number in range(2)]

        def all_more() -> bool:
            self.ask()
            return all(answered(number) > before[number] for number in range(2))

        wait_until(all_more, 60, "both to answer")


def test_what_either_counts_is_in_every_scrape_and_outlives_a_restart(server: Stack, group: WebGroup):
    asking = Asking(server, group)
    asking.until_both_answered()
    for _ in range(6):
        told = scraped(group)
        assert told["knowlex_answers_total"] == told["knowlex_answer_seconds_count"] == asking.count
        assert told["knowlex_web_processes"] == 2

    processes.kill_group(group.processes[1])
    wait_until(lambda: scraped(group)["knowlex_web_processes"] == 1, what="the one that is left")
    assert scraped(group)["knowlex_answers_total"] == asking.count

    group.processes[1] = group.start(1)
    asking.until_both_answered()
    told = scraped(group)
    assert told["knowlex_answers_total"] == asking.count
    assert told["knowlex_web_processes"] == 2
    assert told["process_resident_memory_bytes"] > 150e6  # of both; one takes some 110 MB


def test_a_rate_limit_holds_for_both_together(server: Stack):
    with server.web_group(2, KNOWLEX_RATE_LIMIT="20/hour") as group:
        statuses = [
            reply.status_code
            for _ in range(5)
            for reply in together([lambda: httpx.get(f"{group.url}/v1/collections")] * 8)
        ]
    assert statuses.count(200) <= 20  # some were spent on waiting for the start
    assert statuses.count(429) == len(statuses) - statuses.count(200)
