"""`manage.py up`: ready when it says so, alone on its folder, gone when it ends, and nothing lost."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from knowlex.embedded import data_folder
from knowlex.embedded.keeping import PAUSES_S
from tests.provider import Provider
from tests.stack.up import Up, all_gone, documents, environment, manage
from tests.support import processes
from tests.support.environment import PROJECT
from tests.support.waiting import wait_until

SAMPLE = PROJECT / "samples" / "nikola-tesla.pdf"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that runs, for the tests that only look."""
    running = Up.start(tmp_path_factory.mktemp("up") / "data", "--workers", "2", KNOWLEX_WEB_PROCESSES="2")
    try:
        running.ready()
        yield running
    finally:
        running.end()
        processes.kill_group(running.process)


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that each of the tests finds as the one before left it; the first makes its database."""
    return tmp_path_factory.mktemp("used") / "data"


def test_a_request_succeeds_once_the_ready_line_is_there(up: Up) -> None:
    health = httpx.get(f"{up.ready()}/health")

    assert (health.status_code, health.json()["status"]) == (200, "healthy")
    assert "server" not in health.headers


def test_health_and_metrics_tell_of_each_part(up: Up) -> None:
    base, parts = up.ready(), {"database", "broker", "workers", "web-0", "web-1"}

    told = httpx.get(f"{base}/health").json()["parts"]
    metrics = httpx.get(f"{base}/metrics").text

    assert set(up.parts()) == set(told) == parts
    assert all(
        (part["state"], part["restarts"], part["last_end"]) == ("running", 0, "") for part in told.values()
    )
    for part in parts:
        assert f'knowlex_part_running{{part="{part}"}} 1.0' in metrics
        assert f'knowlex_part_restarts{{part="{part}"}} 0.0' in metrics


def test_connections_are_shared_out_to_the_web_processes(up: Up) -> None:
    """Clients that stay connected and come all at once, too."""
    base = up.ready()
    port = int(base.rpartition(":")[2])
    web = {name: process for name, process in up.parts().items() if name.startswith("web")}

    async def ask_all() -> dict[str, int]:
        kept = httpx.Limits(max_connections=40, max_keepalive_connections=40)
        async with httpx.AsyncClient(base_url=base, timeout=60, limits=kept) as client:
            await asyncio.gather(*(client.get("/health") for _ in range(40)))
            return {name: count_clients(process) for name, process in web.items()}

    def count_clients(process: psutil.Process) -> int:
        return sum(
            each.laddr.port == port and each.status == "ESTABLISHED"
            for each in process.net_connections("tcp")
        )

    shared = asyncio.run(ask_all())

    assert len(shared) == 2
    assert min(shared.values()) >= 5, shared  # fewer of 40: once in a million


def test_it_says_who_answers_and_what_a_chat_model_would_take(up: Up) -> None:
    up.ready()

    line = wait_until(lambda: up.line("Answers: "), what="the line on who answers")

    assert line.startswith(
        "Answers: extractive, word for word from your documents. For answers in a chat model's "
    )
    assert "KNOWLEX_SYNTHESIZER=ollama (with Ollama running) or OPENAI_API_KEY" in line


def test_a_disk_that_fills_up_kills_no_web_server(up: Up) -> None:
    """Which writing to a mapped file does for which there is no block."""
    mapped = [
        mapping.path for name, part in up.parts().items() if "web" in name for mapping in part.memory_maps()
    ]

    assert any(path.endswith("/counter_0.db") for path in mapped)
    assert not any(Path(path).is_relative_to(up.data_dir) for path in mapped)


def test_a_second_up_is_refused_and_told_by_which_process(up: Up) -> None:
    port = up.ready().rpartition(":")[2]  # the same one: the folder is what matters

    second = manage("up", "--port", port, "--data-dir", str(up.data_dir))

    assert second.returncode != 0
    assert f"in use by process {up.process.pid} (up at {up.ready()})" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_command_finds_the_running_database(up: Up) -> None:
    asked = (
        "from documents.models import Collection; print(*Collection.objects.values_list('name', flat=True))"
    )

    told = manage("shell", "-v", "0", "-c", asked, KNOWLEX_DATA_DIR=str(up.data_dir))

    assert told.stdout.split() == ["default"], told.stderr
    assert httpx.get(f"{up.ready()}/health").json()["database"] == "connected"


def test_a_password_is_asked_for_at_a_terminal_only(up: Up) -> None:
    told = subprocess.run(
        [sys.executable, "manage.py", "changepassword", "admin"], cwd=PROJECT,
        env=environment(KNOWLEX_DATA_DIR=str(up.data_dir)), stdin=subprocess.DEVNULL, capture_output=True,
        start_new_session=True, text=True, timeout=60,
    )  # fmt: skip

    assert told.returncode == 1
    assert told.stderr.endswith("knowlex: This command asks something: it needs a terminal.\n")
    assert "Traceback" not in told.stderr


def test_doctor_finds_every_part_at_work_wherever_it_was_told_to_serve(up: Up) -> None:
    told = manage("doctor", KNOWLEX_DATA_DIR=str(up.data_dir))

    marks = [line.split()[0] for line in told.stdout.splitlines()]
    assert (told.returncode, set(marks)) == (0, {"ok"}), told.stdout + told.stderr
    assert " with 2 processes" in told.stdout  # as `--workers` said, not as KNOWLEX_WORKERS would
    assert f"{up.ready()}: answers 200" in told.stdout


def test_the_first_password_is_kept_from_logs(up: Up) -> None:
    """The output is no terminal."""
    base, path = up.ready(), up.data_dir / "admin_password"
    password = path.read_text().strip()

    assert path.stat().st_mode & 0o777 == 0o600
    assert password
    assert password not in up.said
    assert str(path) in up.line("Admin account made: user admin")
    with httpx.Client(base_url=base) as client:
        client.get("/admin/login/")
        form = {"username": "admin", "password": password, "csrfmiddlewaretoken": client.cookies["csrftoken"]}
        assert client.post("/admin/login/?next=/admin/", data=form).headers["Location"] == "/admin/"


def test_an_assistant_finds_the_server_by_its_data_folder(up: Up) -> None:
    base = up.ready()
    command = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp"],
        env=environment(KNOWLEX_DATA_DIR=str(up.data_dir)),
        cwd=PROJECT,
    )

    async def search() -> Any:
        async with Client(stdio_client(command)) as client:
            return await client.call_tool("search", {"query": "Tesla"})

    assert "results" in asyncio.run(search()).structured_content
    nobody = manage("mcp", KNOWLEX_DATA_DIR=str(up.data_dir.with_name("empty")))
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "No server runs in" in nobody.stderr
    assert base not in nobody.stderr


def test_after_kill_9_nothing_is_left_running_and_the_next_start_finds_the_data(
    used: Path, provider: Provider
) -> None:
    """Nor does a chat model that does not answer hold that start up; it is told."""
    first = Up.start(used, "--workers", "1")
    created = httpx.post(f"{first.ready()}/api/v1/documents", files={"file": SAMPLE.read_bytes()})
    family = first.family()
    assert created.status_code == 201
    assert "password" in first.said

    first.process.kill()
    wait_until(lambda: all_gone(family), what="the parts to end with `up`")
    provider.rule("hang", on="models")
    second = Up.start(used, "--workers", "1", KNOWLEX_SYNTHESIZER="ollama", OLLAMA_HOST=provider.url)

    base = second.ready()
    assert not second.line("Answers: ")
    assert len(documents(base)) == 1
    assert "password" not in second.said
    line = wait_until(lambda: second.line("Answers: "), 10, "the line on who answers")
    assert line == (
        f"Answers: ollama llama3.2:1b at {provider.url}."
        " It cannot be reached: start Ollama (`ollama serve`), or set OLLAMA_HOST."
    )
    family = second.family()
    assert data_folder.counts_dir(used).exists()
    assert second.end(signal.SIGINT) == 0
    assert all_gone(family)
    assert not data_folder.counts_dir(used).exists()


def test_a_part_that_dies_again_and_again_ends_everything_and_is_named(used: Path) -> None:
    up = Up.start(used, "--workers", "1", KNOWLEX_WEB_PROCESSES="1")
    base = up.ready()
    family = up.family()

    while up.process.poll() is None:  # `up` bounds it
        with suppress(StopIteration, psutil.NoSuchProcess):
            up.part("valkey").kill()
        family += [member for member in up.family() if member not in family]

    assert up.process.wait(30) not in (0, None)
    assert up.said.count("The broker (Valkey) serves again") <= len(PAUSES_S)
    assert "CommandError: The broker (Valkey) was killed by SIGKILL." in up.said
    assert f"The broker (Valkey) was started again {len(PAUSES_S)} times" in up.said
    assert "Traceback" not in up.said
    wait_until(lambda: all_gone(family), what="the other parts to end")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{base}/health")


@pytest.mark.slow
def test_a_vector_store_that_is_away_holds_up_no_start(used: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        away = f"http://127.0.0.1:{free.getsockname()[1]}"
    up = Up.start(used, "--workers", "1", KNOWLEX_VECTOR_STORE="chroma", VECTOR_STORE_URL=away)
    try:
        assert httpx.get(f"{up.ready()}/health").json()["vector_store"] == "unreachable"
        assert f"chroma at {away}, collections corporate_documents_… does not answer" in up.said
        httpx.post(f"{up.ready()}/api/v1/documents", files={"file": SAMPLE.read_bytes()})
        assert len(documents(up.ready())) == 1
    finally:
        up.end()
        processes.kill_group(up.process)


def test_a_port_of_another_up_with_several_web_processes_is_in_use(up: Up, tmp_path: Path) -> None:
    port = up.ready().rpartition(":")[2]

    told = manage("up", "--port", port, "--data-dir", str(tmp_path / "data"), KNOWLEX_WEB_PROCESSES="2")

    assert told.returncode != 0
    assert f"Cannot serve at 127.0.0.1:{port}" in told.stderr


def test_a_port_in_use_is_told_before_anything_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = manage("up", "--port", port, "--data-dir", str(tmp_path / "data"))

    assert told.returncode != 0
    assert f"127.0.0.1:{port}" in told.stderr
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.slow
def test_an_address_that_others_can_reach_asks_for_keys_and_tells_how_to_make_one(tmp_path: Path) -> None:
    up = Up.start(tmp_path / "data", "--host", "0.0.0.0", "--workers", "1")
    try:
        url = up.ready().replace("0.0.0.0", "127.0.0.1") + "/api/v1/documents"
        assert "python manage.py create_api_key NAME" in up.said
        assert httpx.get(url).status_code == 401

        words = ("create_api_key", "first", "--scope", "write", "--expires", "90d", "--collection", "default")
        made = manage(*words, KNOWLEX_DATA_DIR=str(up.data_dir))

        assert re.fullmatch(r"kx_[a-z0-9]{8}_[\w-]{43}\n", made.stdout), made.stderr
        assert httpx.get(url, headers={"X-API-Key": made.stdout.strip()}).status_code == 200
    finally:
        up.end()
        processes.kill_group(up.process)
