"""Many clients at once: one wins, the others are told so, and nothing is half there."""

import httpx
import psutil
import pytest

from tests.documents.http import (
    MAX_BYTES,
    URL,
    assert_nothing_stored,
    at_once,
    ingested,
    markdown,
    padded_pdf,
    upload,
)
from tests.support.stack import Stack

QUIET_BYTES = 25 * 2**20  # half of what a 50 MB file in memory would add


@pytest.mark.parametrize("attempt", range(3))
def test_twenty_equal_uploads_give_one_document(server: Stack, attempt: int) -> None:
    content = markdown()

    responses = at_once(20, lambda number: upload(server, content, f"copy {number}.md"))

    assert sorted(response.status_code for response in responses) == [201] + [409] * 19
    winner = next(r.json()["documentId"] for r in responses if r.status_code == 201)
    losers = [response.json() for response in responses if response.status_code == 409]
    assert {problem["details"]["documentId"] for problem in losers} == {winner}
    assert all(winner in problem["message"] for problem in losers)
    assert server.count("documents_document") == len(server.stored_files()) == 1


def test_twenty_equal_unreadable_uploads_are_all_unreadable(server: Stack) -> None:
    responses = at_once(20, lambda number: upload(server, b"%PDF-1.7 nothing that can be read", "broken.pdf"))

    assert [response.status_code for response in responses] == [422] * 20
    assert_nothing_stored(server)


def test_different_uploads_at_once_all_go_in(server: Stack) -> None:
    responses = at_once(20, lambda number: upload(server, markdown(), f"{number}.md"))

    assert [response.status_code for response in responses] == [201] * 20
    assert server.count("documents_document") == len(server.stored_files()) == 20


def test_of_ten_deletions_one_succeeds(server: Stack) -> None:
    document = ingested(server)

    responses = at_once(10, lambda _: httpx.delete(f"{server.url}{URL}/{document}", timeout=30))

    assert sorted(response.status_code for response in responses) == [204] + [404] * 9
    assert_nothing_stored(server)


def test_upload_crossing_the_deletion_of_its_equal_is_whole_or_refused(server: Stack) -> None:
    content = markdown()
    document = ingested(server, content)

    def act(number: int) -> httpx.Response:
        if number == 3:
            return httpx.delete(f"{server.url}{URL}/{document}", timeout=30)
        return upload(server, content)

    responses = at_once(8, act)

    assert responses[3].status_code == 204
    uploads = [response.status_code for number, response in enumerate(responses) if number != 3]
    assert set(uploads) <= {201, 409}
    assert uploads.count(201) == server.count("documents_document") == len(server.stored_files()) <= 1
    assert (server.count("documents_chunk") > 0) == (201 in uploads)


def test_fifty_megabytes_cost_the_web_process_no_fifty_megabytes(server: Stack) -> None:
    ingested(server)
    server.warm_web()
    assert server.web is not None
    process = psutil.Process(server.web.pid)
    before = process.memory_info().rss
    with open(f"/proc/{server.web.pid}/clear_refs", "w") as peak:
        peak.write("5")  # start the high-water mark anew

    response = upload(server, padded_pdf(MAX_BYTES), "big.pdf")

    assert response.status_code == 201, response.text
    with open(f"/proc/{server.web.pid}/status") as status:
        highest = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    assert highest - before < QUIET_BYTES
