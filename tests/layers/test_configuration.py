"""Every environment variable is documented where a newcomer looks, and an unusable one is refused by name."""

import json
import os
import re
import subprocess
import sys
from typing import Any, Literal

import pytest
import yaml
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel, ConfigDict

from knowlex.environment import Environment, read_environment
from tests.support.environment import PROJECT

NAMES = sorted(name.upper() for name in Environment.model_fields)
# The table in the specifications.
SPECIFIED = {
    *("KNOWLEX_DATA_DIR", "DATABASE_URL", "REDIS_URL", "KNOWLEX_EMBEDDER", "KNOWLEX_EMBEDDING_MODEL"),
    *("KNOWLEX_EMBEDDING_DIMENSIONS", "KNOWLEX_SYNTHESIZER", "KNOWLEX_CHAT_MODEL", "OPENAI_API_KEY"),
    *("OPENAI_BASE_URL", "OLLAMA_HOST", "OLLAMA_MODEL", "OLLAMA_TIMEOUT_SECONDS"),
    *(
        "KNOWLEX_LLM_TIMEOUT_SECONDS",
        "KNOWLEX_RELEVANCE_THRESHOLD",
        "KNOWLEX_VECTOR_STORE",
        "VECTOR_STORE_URL",
    ),
    *("VECTOR_STORE_COLLECTION", "VECTOR_STORE_TIMEOUT_SECONDS", "KNOWLEX_REQUIRE_API_KEY", "LOG_LEVEL"),
    *("KNOWLEX_MAX_UPLOAD_MB", "KNOWLEX_RATE_LIMIT", "MIN_CONFIDENCE_THRESHOLD", "MAX_RETRIEVAL_RESULTS"),
    *("KNOWLEX_URL_INGEST", "KNOWLEX_URL_ALLOWED_HOSTS"),
}


PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}  # everybody's; read where a client is made


def default_of(name: str) -> str:
    """As it is written in an environment; "" where nothing is set."""
    default = Environment.model_fields[name.lower()].default
    return f"{default:g}" if isinstance(default, float) else "" if default is None else str(default)


def documented() -> dict[str, list[str]]:
    """Return the defaults that docs/configuration.md tells for each variable."""
    text = (PROJECT / "docs/configuration.md").read_text()
    rows = [row.split("|") for row in text.splitlines() if row.startswith("| `")]
    cells = [(names, [one.strip(" `") for one in told.split(",")]) for _, names, told, *_ in rows]
    return {name: [*told, ""] for names, told in cells for name in re.findall(r"`([A-Z0-9_]+)`", names)}


def names_in(file: str) -> set[str]:
    return set(re.findall(r"\b[A-Z][A-Z0-9_]{5,}\b", (PROJECT / file).read_text()))


def test_every_specified_variable_is_read():
    assert set(NAMES) >= SPECIFIED


def test_every_variable_stands_in_the_example_file():
    assert set(NAMES) - names_in(".env.example") == set()


def test_the_example_file_shows_the_defaults():
    """Those of databases and brokers are examples: by default they are embedded."""
    lines = re.findall(r"^#([A-Z0-9_]+)=(.*)$", (PROJECT / ".env.example").read_text(), re.MULTILINE)
    shown = {
        name: value for name, value in lines if not name.endswith(("DATABASE_URL", "READ_URL", "REDIS_URL"))
    }
    assert {name: value for name, value in shown.items() if value != default_of(name)} == {}


def test_the_docs_have_every_variable_and_no_other():
    assert set(documented()) == {*NAMES, *PROXIES}


def test_the_docs_tell_the_defaults():
    told = {name: cell for name, cell in documented().items() if name not in PROXIES}
    assert {name: cell for name, cell in told.items() if default_of(name) not in cell} == {}


def test_every_variable_reaches_the_containers():
    """Those of the image's own folders and port, of `up` and of the class RAGService alone, are left out."""
    own = {"KNOWLEX_DATA_DIR", "KNOWLEX_MODELS_DIR", "KNOWLEX_PORT", "KNOWLEX_WEB_PROCESSES"}
    library = {"EMBEDDING_MODEL", "MIN_CONFIDENCE_THRESHOLD", "MAX_RETRIEVAL_RESULTS"}
    assert set(NAMES) - own - library - names_in("docker-compose.yml") == set()


def composed(**given: str) -> dict[str, Any]:
    """The services of docker-compose.yml in an environment: `${NAME:-without it}` and `${NAME:+with it}`."""

    def put(match: re.Match[str]) -> str:
        value, sign, other = given.get(match[1], ""), match[2], match[3]
        return (value or other) if sign == ":-" else (value and other)

    text, found = json.dumps(yaml.safe_load((PROJECT / "docker-compose.yml").read_text())), 1
    while found:  # those inside others first
        text, found = re.subn(r"(?<!\$)\$\{(\w+)(:[-+])([^${}]*)\}", put, text)
    return json.loads(text)["services"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Health(Strict):
    test: str
    interval: str
    timeout: str
    retries: int
    start_period: str = ""


class Condition(Strict):
    condition: Literal["service_healthy", "service_completed_successfully"]
    required: bool = True


class Service(Strict):
    """What of Compose's services is used: a word that is misspelt is none of it."""

    image: str
    build: str = ""
    profiles: list[str] = []
    restart: Literal["unless-stopped", "on-failure"]
    init: bool = False
    command: str = ""
    entrypoint: str = ""
    environment: dict[str, str] = {}
    volumes: list[str] = []
    ports: list[str] = []
    depends_on: dict[str, Condition] = {}
    healthcheck: Health | None = None
    extra_hosts: list[str] = []
    shm_size: str = ""
    stop_grace_period: str = ""


class Compose(Strict):
    services: dict[str, Service]
    volumes: dict[str, None]


def compose_file() -> Compose:
    found = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
    return Compose.model_validate({name: part for name, part in found.items() if not name.startswith("x-")})


def test_the_compose_file_holds_what_it_names():
    compose = compose_file()
    for name, service in compose.services.items():
        assert {volume.partition(":")[0] for volume in service.volumes} <= set(compose.volumes)
        for other, condition in service.depends_on.items():
            needed = compose.services[other]
            assert not condition.required or set(needed.profiles) <= set(service.profiles), (name, other)
            if condition.condition == "service_healthy":
                assert needed.healthcheck, (name, other)
            else:
                assert needed.restart == "on-failure"
    used = {volume.partition(":")[0] for service in compose.services.values() for volume in service.volumes}
    assert used == set(compose.volumes)


def test_every_image_is_of_a_version_and_every_port_of_this_machine_alone():
    for name, service in compose_file().services.items():
        if not service.build:
            assert re.fullmatch(r"[\w./-]+:v?\d+\.[\w.-]+", service.image), (name, service.image)
        for port in composed()[name].get("ports", []):
            assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), (name, port)


def test_the_containers_of_knowlex_are_told_no_variable_that_it_does_not_know():
    services = compose_file().services
    ours = [service for service in services.values() if service.build]
    assert len(ours) == 3
    for service in ours:
        assert set(service.environment) <= set(NAMES)
    interpolated = set(re.findall(r"\$\{(\w+)", (PROJECT / "docker-compose.yml").read_text()))
    others = {"POSTGRES_PASSWORD", "KNOWLEX_PUBLISHED_PORT", "OPEN_WEBUI_KEY", "OPEN_WEBUI_PUBLISHED_PORT"}
    assert interpolated <= {*NAMES, *others}


@pytest.mark.parametrize("part", ["web", "worker"])
@pytest.mark.parametrize("profiles", ["", "ollama", "ollama,open-webui,qdrant"])
def test_what_is_set_alone_decides_who_answers_and_what_is_searched(part: str, profiles: str):
    """Not the profiles, of which there may be several."""
    alone = composed(COMPOSE_PROFILES=profiles)[part]["environment"]
    assert (alone["KNOWLEX_SYNTHESIZER"], alone["KNOWLEX_VECTOR_STORE"]) == ("", "")
    assert (alone["OLLAMA_HOST"], alone["VECTOR_STORE_URL"]) == ("http://ollama:11434", "http://qdrant:6333")
    assert alone["KNOWLEX_PUBLIC_URL"] == "http://127.0.0.1:8080"
    given = {
        "KNOWLEX_SYNTHESIZER": "openai",
        "OLLAMA_HOST": "http://gpu:11434",
        "KNOWLEX_PUBLIC_URL": "https://kb",
    }
    chosen = composed(COMPOSE_PROFILES=profiles, **given)[part]["environment"]
    assert {name: chosen[name] for name in given} == given


def test_profiles_start_what_they_are_named_after():
    services = composed(OLLAMA_MODEL="mistral:7b", OPEN_WEBUI_KEY="kx_1")
    in_profile: dict[str, set[str]] = {}
    for name, service in services.items():
        for profile in service.get("profiles", ["none"]):
            in_profile.setdefault(profile, set()).add(name)

    assert in_profile == {
        "none": {"database", "broker", "prepare", "web", "worker"},
        "ollama": {"ollama", "pull"},
        "qdrant": {"qdrant"},
        "open-webui": {"open-webui"},
    }
    assert services["pull"]["environment"] == {"OLLAMA_HOST": "http://ollama:11434", "MODEL": "mistral:7b"}
    assert services["pull"]["depends_on"] == {"ollama": {"condition": "service_healthy"}}
    assert services["web"]["depends_on"]["pull"] == {
        "condition": "service_completed_successfully",
        "required": False,  # without the profile there is none
    }
    assert composed()["pull"]["environment"]["MODEL"] == default_of("OLLAMA_MODEL")
    assert services["ollama"]["volumes"] == ["ollama:/root/.ollama"]
    chat = services["open-webui"]["environment"]
    assert (chat["OPENAI_API_BASE_URL"], chat["OPENAI_API_KEY"]) == ("http://web:8080/v1", "kx_1")
    assert "web" in services["web"]["environment"]["KNOWLEX_ALLOWED_HOSTS"].split(",")


UNUSABLE = [
    ("KNOWLEX_EMBEDDER", "clippy"),
    ("KNOWLEX_SYNTHESIZER", "gpt"),
    ("KNOWLEX_VECTOR_STORE", "qdrant"),
    ("VECTOR_STORE_COLLECTION", "my documents"),
    ("KNOWLEX_RELEVANCE_THRESHOLD", "1.5"),
    ("KNOWLEX_RELEVANCE_THRESHOLD", "nan"),
    ("KNOWLEX_MAX_UPLOAD_MB", "0"),
    ("KNOWLEX_RATE_LIMIT", "often"),
    ("KNOWLEX_LLM_TIMEOUT_SECONDS", "-1"),
    ("KNOWLEX_URL_INGEST", "perhaps"),
    ("DATABASE_URL", "mysql://localhost/x"),
    ("REDIS_URL", "amqp://localhost"),
    ("MAX_RETRIEVAL_RESULTS", "51"),
    ("LOG_LEVEL", "LOUD"),
]


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_an_unusable_value_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        read_environment()


@pytest.mark.parametrize("store", ["qdrant", "chroma"])
def test_a_store_outside_wants_its_url(monkeypatch: pytest.MonkeyPatch, store: str):
    monkeypatch.setenv("KNOWLEX_VECTOR_STORE", store)
    with pytest.raises(ImproperlyConfigured, match=f"VECTOR_STORE_URL: is needed for .*={store}"):
        read_environment()
    monkeypatch.setenv("VECTOR_STORE_URL", "http://stores.example:6333/")
    assert read_environment().vector_store_url == "http://stores.example:6333"


S3 = {"KNOWLEX_FILES": "s3", "KNOWLEX_S3_BUCKET": "files"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"KNOWLEX_FILES": "s3"}, "KNOWLEX_S3_BUCKET: is needed"),
        ({**S3, "KNOWLEX_S3_ACCESS_KEY_ID": "one"}, "KNOWLEX_S3_SECRET_ACCESS_KEY: is needed"),
        ({**S3, "KNOWLEX_S3_SECRET_ACCESS_KEY": "other"}, "KNOWLEX_S3_ACCESS_KEY_ID: is needed"),
        ({**S3, "KNOWLEX_S3_BUCKET": "../files"}, "KNOWLEX_S3_BUCKET"),
        ({**S3, "KNOWLEX_S3_ENDPOINT": "minio:9000"}, "KNOWLEX_S3_ENDPOINT"),
    ],
)
def test_a_bucket_wants_its_name_and_both_keys(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=said):
        read_environment()


def test_a_bucket_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name, value in S3.items():
        monkeypatch.setenv(name, value)
    assert read_environment().knowlex_s3_bucket == "files"
    monkeypatch.setattr("knowlex.environment.find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"KNOWLEX_FILES: .*requirements-s3\.txt"):
        read_environment()


def test_unusable_values_end_the_start_in_one_line_that_names_them():
    wrong = {
        "KNOWLEX_EMBEDDER": "clippy",
        "KNOWLEX_RATE_LIMIT": "often",
        "DATABASE_URL": "mysql://localhost/x",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=PROJECT, env={**os.environ, **wrong}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    (line,) = (done.stderr + done.stdout).strip().splitlines()
    assert all(name in line for name in wrong)
    assert "Traceback" not in done.stderr
