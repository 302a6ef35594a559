"""The environment: what is taken, what is refused, and that the refusal names the variable."""

import os
import re
import subprocess
import sys
from pathlib import Path
from socket import AF_INET

import psutil
import pytest
from django.core.exceptions import ImproperlyConfigured

from knowlex.broker import broker_options, broker_url, redis_client_url
from knowlex.embedded import data_folder
from knowlex.embedded.services import cache_settings, database_bytes, wal_settings
from knowlex.environment import Environment, available_memory, read_environment
from tests.stack.up import environment
from tests.support.environment import PROJECT

UNUSABLE = [
    ("DATABASE_URL", "mysql://localhost/knowlex"),
    ("DATABASE_URL", "postgresql://localhost"),
    ("REDIS_URL", "localhost:6379"),
    ("REDIS_URL", "redis://localhost/first"),
    ("KNOWLEX_HOST", "http://127.0.0.1"),
    ("KNOWLEX_ALLOWED_HOSTS", "https://knowlex.example.org"),
    ("KNOWLEX_ALLOWED_HOSTS", "localhost, knowlex.example.org/"),
    ("KNOWLEX_ALLOWED_HOSTS", "knowlex.example.org:443"),
    ("KNOWLEX_ALLOWED_HOSTS", "knowlex.example.org kb"),
    ("KNOWLEX_PORT", "70000"),
    ("KNOWLEX_WORKERS", "0"),
    ("KNOWLEX_WEB_PROCESSES", "0"),
    ("KNOWLEX_EMBEDDER", "word2vec"),
    ("KNOWLEX_EMBEDDER", "openai"),
    ("KNOWLEX_EMBEDDING_MODEL", "another"),
    ("KNOWLEX_EMBEDDING_DIMENSIONS", "1536"),
    ("KNOWLEX_SYNTHESIZER", "openai"),
    ("OPENAI_API_KEY", "sk-\u00e9"),
    ("OPENAI_BASE_URL", "ftp://localhost"),
    ("OLLAMA_HOST", "http://"),
    ("OLLAMA_TIMEOUT_SECONDS", "-1"),
    ("KNOWLEX_LLM_TIMEOUT_SECONDS", "inf"),
    ("KNOWLEX_RELEVANCE_THRESHOLD", "nan"),
    ("KNOWLEX_RELEVANCE_THRESHOLD", "1.01"),
    ("KNOWLEX_VECTOR_STORE", "qdrant"),
    ("VECTOR_STORE_COLLECTION", "my documents"),
    ("VECTOR_STORE_URL", "localhost"),
    ("VECTOR_STORE_TIMEOUT_SECONDS", "0"),
    ("KNOWLEX_RERANKER", "bm25"),
    ("KNOWLEX_RERANKER_URL", "localhost:8012"),
    ("KNOWLEX_RERANKER_API_KEY", "sk-\u00e9"),
    ("KNOWLEX_RERANKER_TIMEOUT_SECONDS", "0"),
    ("KNOWLEX_REQUIRE_API_KEY", "perhaps"),
    ("KNOWLEX_MAX_UPLOAD_MB", "0"),
    ("KNOWLEX_RATE_LIMIT", "often"),
    ("KNOWLEX_URL_INGEST", "perhaps"),
    ("KNOWLEX_URL_ALLOWED_HOSTS", "http://intranet"),
    ("KNOWLEX_SOURCE_FOLDERS", "papers"),
    ("KNOWLEX_DATA_DIR", __file__),
    ("KNOWLEX_CHUNK_OVERLAP", "200"),
    ("MIN_CONFIDENCE_THRESHOLD", "2"),
    ("MAX_RETRIEVAL_RESULTS", "0"),
    ("LOG_LEVEL", "LOUD"),
]


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_a_value_that_cannot_be_used_is_refused_by_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment()

    assert name in str(refusal.value)


def test_a_reranker_without_its_model_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KNOWLEX_RERANKER", "http")
    with pytest.raises(ImproperlyConfigured, match="KNOWLEX_RERANKER_URL"):
        read_environment()
    monkeypatch.setenv("KNOWLEX_RERANKER", "cross-encoder")
    with pytest.raises(ImproperlyConfigured, match="KNOWLEX_RERANKER_MODEL"):
        read_environment()
    monkeypatch.setenv("KNOWLEX_RERANKER_MODEL", str(tmp_path))
    with pytest.raises(ImproperlyConfigured, match=r"KNOWLEX_RERANKER_MODEL: .* holds no tokenizer\.json"):
        read_environment()
    (tmp_path / "onnx").mkdir()
    for name in ("tokenizer.json", "onnx/model.onnx"):
        (tmp_path / name).write_text("x")
    assert read_environment().knowlex_reranker_model == str(tmp_path)


def test_a_blank_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    monkeypatch.setenv("KNOWLEX_PORT", "")

    assert (read_environment().embedder, read_environment().knowlex_port) == ("local", 8080)


def test_a_data_folder_that_cannot_be_written_to_is_told_with_its_owner(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KNOWLEX_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(ImproperlyConfigured, match=f"it belongs to {tmp_path.owner()}; run as that account"):
        read_environment()


def test_a_key_chooses_openai_for_both_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    assert (read_environment().embedder, read_environment().synthesizer) == ("openai", "openai")


def test_no_secret_is_shown_in_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://knowlex:hunter2@localhost/knowlex")

    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment()

    assert "hunter2" not in str(refusal.value)

    monkeypatch.setenv("KNOWLEX_RERANKER_API_KEY", "sk- secret")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment()

    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "check"],
        ["-m", "celery", "-A", "knowlex", "worker"],
        ["-m", "uvicorn", "knowlex.asgi:application"],
    ],
    ids=lambda command: command[-1],
)
def test_every_door_refuses_with_one_line_and_a_failing_exit(command: list[str], tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env=environment(KNOWLEX_DATA_DIR=str(tmp_path), KNOWLEX_RELEVANCE_THRESHOLD="high"),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert told.returncode != 0
    assert len(told.stderr.strip().splitlines()) == 1
    assert "KNOWLEX_RELEVANCE_THRESHOLD" in told.stderr


def test_the_example_names_every_variable() -> None:
    example = (PROJECT / ".env.example").read_text()

    named = set(re.findall(r"^#?([A-Z_0-9]+)=", example, re.MULTILINE))

    assert named == {name.upper() for name in Environment.model_fields}


@pytest.mark.parametrize(
    ("url", "client", "broker"),
    [
        ("valkey://host:6379/1", "redis://host:6379/1", "redis://host:6379/1"),
        ("valkeys://host/0", "rediss://host/0", "rediss://host/0"),
        ("unix:///run/v.sock", "unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
        ("unix:///run/v.sock?db=3", "unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
    ],
)
def test_one_redis_url_serves_both_of_its_clients(url: str, client: str, broker: str) -> None:
    assert redis_client_url(url) == client
    assert broker_url(redis_client_url(url)) == broker


def test_an_encrypted_broker_must_show_its_certificate() -> None:
    assert broker_options("rediss://host/0")[0] == {"ssl_cert_reqs": "required"}
    assert broker_options("redis://host/0")[0] is None


def test_sockets_stay_in_the_data_folder_while_its_path_can_hold_them() -> None:
    assert data_folder.socket_dir(Path("/srv/knowlex"), "valkey") == Path("/srv/knowlex/valkey")
    assert data_folder.socket_dir(Path("/srv/know,lex"), "valkey").parent == Path("/tmp")
    assert data_folder.socket_dir(Path("/srv") / ("x" * 100), "valkey").parent == Path("/tmp")


def test_a_server_bound_to_all_addresses_answers_to_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWLEX_HOST", "0.0.0.0")
    monkeypatch.setenv("KNOWLEX_REQUIRE_API_KEY", "false")
    addresses = {a.address for found in psutil.net_if_addrs().values() for a in found if a.family == AF_INET}

    assert addresses
    assert addresses <= set(read_environment().allowed_hosts)


def test_loopback_is_answered_whatever_hosts_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWLEX_ALLOWED_HOSTS", "kb.example.org, kb")
    assert read_environment().allowed_hosts == ["localhost", "127.0.0.1", "[::1]", "kb.example.org", "kb"]


@pytest.mark.parametrize(
    ("host", "said", "required"),
    [
        ("127.0.0.1", "", False),
        ("::1", "", False),
        ("localhost", "", False),
        ("0.0.0.0", "", True),
        ("192.168.1.5", "", True),
        ("knowledge.example", "", True),
        ("0.0.0.0", "false", False),
        ("127.0.0.1", "true", True),
    ],
)
def test_keys_are_asked_for_where_others_can_reach_the_api(
    host: str, said: str, required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNOWLEX_HOST", host)
    monkeypatch.setenv("KNOWLEX_REQUIRE_API_KEY", said)

    assert read_environment().require_api_key is required


GIB = 2**30


@pytest.mark.parametrize(
    ("free", "data", "size"),
    [
        (72 * GIB, 0, "64MB"),  # a new database
        (72 * GIB, GIB // 4, "256MB"),
        (72 * GIB, 10 * GIB, "368MB"),  # half a percent of the disk
        (1000 * GIB, 10 * GIB, "512MB"),
        (GIB // 2, 10 * GIB, "64MB"),
    ],
)
def test_the_write_ahead_log_follows_data_and_disk(free: int, data: int, size: str) -> None:
    assert wal_settings(free, data)["max_wal_size"] == size


@pytest.mark.parametrize(
    ("memory", "data", "size"),
    [
        (16 * GIB, 0, "128MB"),  # a new database
        (16 * GIB, GIB // 2, "512MB"),
        (16 * GIB, 20 * GIB, "2048MB"),  # an eighth of the memory
        (256 * GIB, 20 * GIB, "4096MB"),
        (GIB // 2, 20 * GIB, "128MB"),
    ],
)
def test_what_postgres_keeps_in_memory_follows_its_data(memory: int, data: int, size: str) -> None:
    assert cache_settings(memory, data)["shared_buffers"] == size


def test_the_size_of_a_database_is_that_of_its_files(tmp_path: Path) -> None:
    assert database_bytes(tmp_path) == 0
    for name, count in (("base/1/2601", 100), ("base/5/16384", 23), ("pg_wal/000000010000000000000001", 999)):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(bytes(count))
    assert database_bytes(tmp_path) == 123


@pytest.mark.parametrize(
    ("cores", "gibibytes", "processes"), [(1, 8, 1), (2, 8, 2), (16, 64, 4), (8, 2, 2), (2, 0.5, 1)]
)
def test_web_processes_fit_the_cores_and_the_memory(
    cores: int, gibibytes: float, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowlex.environment.available_cores", lambda: cores)
    monkeypatch.setattr("knowlex.environment.available_memory", lambda: int(gibibytes * 1024**3))

    assert Environment(knowlex_web_processes=None).web_processes == processes
    assert Environment(knowlex_web_processes=7).web_processes == 7


def test_memory_is_what_the_control_group_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr("knowlex.environment.CGROUP_LIMIT", limit)
    machine = psutil.virtual_memory().total

    assert available_memory() == machine
    limit.write_text("max\n")
    assert available_memory() == machine
    limit.write_text("536870912\n")
    assert available_memory() == 536_870_912
