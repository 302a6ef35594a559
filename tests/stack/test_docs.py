"""Every command of README, CONTRIBUTING and docs: `sh` blocks are run, `console` blocks are checked."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from knowlex.cli import COMMANDS, OF_DJANGO, OUR_COMMANDS, describe_commands
from tests.stack.up import Up, environment, manage
from tests.support import processes
from tests.support.environment import PROJECT

CLIENT = "knowlex_client/README.md"
PAGES = [
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", CLIENT)),
    *sorted((PROJECT / "docs").glob("*.md")),
]
# Programs of others, which these tests do not have.
FOREIGN = {
    "docker",
    "ollama",
    "useradd",
    "systemctl",
    "journalctl",
    "cat",
    "cp",
    "pip",
    "git",
    "export",
    ".",
    "cd",
    "redis-cli",
}


# A failure of the server ends the script, unless a page before has uploaded the same file.
CURL = """curl() {
    local code=0
    command curl -sS --fail-with-body "$@" > response || code=$?
    cat response
    [ $code = 0 ] || grep -q DUPLICATE response
}
"""


class Fence(NamedTuple):
    page: str
    kind: str
    text: str


def read_fences() -> list[Fence]:
    return [
        Fence(str(page.relative_to(PROJECT)), *match.groups())
        for page in PAGES
        for match in re.finditer(r"^```(\w[\w ]*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    ]


FENCES = read_fences()


def shown_commands() -> Iterator[tuple[str, list[str]]]:
    """The page and the words of each command line that is shown and not run."""
    for fence in FENCES:
        if fence.kind == "console":
            for line in fence.text.splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words.pop(0)
                if words:
                    yield fence.page, words


SHOWN = list(shown_commands())


@pytest.mark.parametrize(("page", "words"), SHOWN, ids=[f"{page}: {' '.join(w)}"[:90] for page, w in SHOWN])
def test_a_shown_command_exists_and_takes_these_options(page: str, words: list[str]) -> None:
    if "manage.py" in words:
        name, *options = words[words.index("manage.py") + 1 :]
        if name in OUR_COMMANDS:
            module = import_module(f"{OUR_COMMANDS[name]}.management.commands.{name}")
            module.Command().create_parser("manage.py", name).parse_args(without_data_dir(name, options))
    elif words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
        assert words[-1] in targets
    else:
        assert words[0] in FOREIGN, f"{page} shows {words[0]}, which nothing checks"


def without_data_dir(name: str, options: list[str]) -> list[str]:
    """`up` parses --data-dir itself; from the other commands manage.py takes it before."""
    if name != "up" and "--data-dir" in options:
        place = options.index("--data-dir")
        return options[:place] + options[place + 2 :]
    return options


def test_the_variables_that_pages_name_exist() -> None:
    of_clients = " KNOWLEX_WRITE_GOLDEN KNOWLEX_API_KEY KNOWLEX_URL"  # no settings of the server
    files = (PROJECT / ".env.example", PROJECT / "docker-compose.yml")
    known = "".join(file.read_text() for file in files) + of_clients
    for page in PAGES:
        for name in set(re.findall(r"\bKNOWLEX_[A-Z_]*[A-Z]\b", page.read_text())):
            assert name in known, f"{page.name} names {name}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_is_short() -> None:
    assert len((PROJECT / "README.md").read_text().splitlines()) <= 120


def test_help_lists_every_command_of_ours() -> None:
    there = {path.stem for path in PROJECT.glob("*/management/commands/*.py")} - {"__init__", "migrate"}
    assert {name for name, app in OUR_COMMANDS.items() if app != OF_DJANGO} == there
    assert [line for line in describe_commands().splitlines() if line in COMMANDS] == list(COMMANDS)


def test_help_costs_under_a_second_of_processor_time() -> None:
    for name in (name for name, app in OUR_COMMANDS.items() if app != OF_DJANGO):
        code = f"import sys; sys.argv[1:] = ['{name}', '--help']; from knowlex.cli import main\n"
        code += "try:\n main(sys.argv)\nexcept SystemExit as end:\n assert end.code == 0\n"
        code += "import time; assert 'django.apps' not in sys.modules or time.process_time() < 1, 'slow'"
        done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True)
        assert done.returncode == 0, name + done.stderr
        assert "usage: manage.py" in done.stdout


def test_the_unit_starts_up_with_options_that_exist() -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(PROJECT / "docs/knowlex.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert words[0] == unit["Service"]["WorkingDirectory"] + "/.venv/bin/python"
    test_a_shown_command_exists_and_takes_these_options("knowlex.service", words[1:])


def test_the_proxy_names_the_port_and_forwards_what_settings_read() -> None:
    block = (PROJECT / "docs/nginx.conf").read_text()
    assert block.count("{") == block.count("}")
    for needed in (
        "127.0.0.1:8080",
        "Host $host",
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "proxy_buffering off",
    ):
        assert needed in block


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    running = Up.start(
        tmp_path_factory.mktemp("docs") / "data",
        "--workers",
        "1",
        KNOWLEX_RATE_LIMIT="off",
        KNOWLEX_WEB_PROCESSES="2",
    )
    try:
        running.ready()
        yield running
    finally:
        running.end()
        processes.kill_group(running.process)


def type_in(up: Up, script: str, **more: str) -> str:
    """Run a page's blocks with this server's address and data folder. Return what they print."""
    folder = up.data_dir.with_name("typed")
    if not folder.exists():
        folder.mkdir()
        for name in ("samples", "CHANGELOG.md", "README.md", "manage.py"):
            (folder / name).symlink_to(PROJECT / name)
        (folder / "docs").mkdir()
        for name in ("citations.md", "webhooks.md"):  # more of our pages would only take longer to embed
            shutil.copy(PROJECT / "docs" / name, folder / "docs")
    text = script.replace("http://localhost:8080", up.ready())
    env = environment(KNOWLEX_DATA_DIR=str(up.data_dir), DATA=str(up.data_dir), **more)
    env |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", CURL + text],
        cwd=folder, env=env, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def blocks_of(page: str, kind: str = "sh") -> str:
    return "\n".join(fence.text for fence in FENCES if (fence.page, fence.kind) == (page, kind))


def test_what_the_readme_says_works(up: Up) -> None:
    printed = type_in(up, blocks_of("README.md"))
    assert "Supreme Court of the United States" in printed
    assert "[1] nikola-tesla.pdf, page 2 (exact): “In 1943" in printed


def test_what_the_clients_pages_say_works(up: Up) -> None:
    program = blocks_of(CLIENT, "python").replace("http://localhost:8080", up.ready())
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "Supreme Court of the United States" in done.stdout
    assert "records" in type_in(up, blocks_of("docs/clients.md"))


def test_what_the_page_on_webhooks_says_works(up: Up) -> None:
    printed = type_in(up, blocks_of("docs/webhooks.md"))
    assert '"deliveries":[]' in printed
    assert '"events":["job.ended","evaluation.ended"]' in printed


def test_up_says_where_things_are(up: Up) -> None:
    address = up.ready()
    assert up.line("Starting ").startswith("Starting PostgreSQL, Valkey, 1 worker and 2 web processes in ")
    assert up.line("  Page ").split() == ["Page", f"{address}/"]
    assert up.line("  API ").split() == ["API", f"{address}/api/docs"]
    assert up.line("  Admin ").split() == ["Admin", f"{address}/admin/"]
    assert Path(up.line("  Logs ").split()[1]).is_dir()


def test_ask_prints_json_and_says_what_is_wrong(up: Up) -> None:
    told = manage("ask", "Which lamp?", "--collection", "nowhere", "--data-dir", str(up.data_dir))
    assert (told.returncode, "Traceback" in told.stderr) == (1, False)
    assert told.stderr.startswith("CommandError: Collection not found")
    told = manage("ask", "Which lamp?", "--json", "--data-dir", str(up.data_dir))
    assert '"query_id"' in told.stdout


def test_a_mistyped_variable_is_named_with_the_nearest(up: Up) -> None:
    told = manage("doctor", KNOWLEX_DATA_DIR=str(up.data_dir), KNOWLEX_EMBEDER="local")
    assert (
        "KNOWLEX_EMBEDER is set, but Knowlex knows no such variable. Did you mean KNOWLEX_EMBEDDER?"
        in told.stdout
    )


@pytest.mark.parametrize(
    "command", [("explain", "Why?", "01a20ae3-8340-76a7-b5ef-e1e1fb88afa7"), ("changepassword", "admin")]
)
def test_a_command_without_a_knowledge_base_says_so_in_one_line_and_makes_none(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    told = manage(*command, "--data-dir", str(tmp_path / "new"))
    (line,) = told.stderr.strip().splitlines()
    assert line.startswith(f"knowlex: There is no knowledge base in {tmp_path / 'new'} yet.")
    assert not (tmp_path / "new" / "postgres").exists()


@pytest.mark.slow
def test_what_the_api_page_says_works(up: Up) -> None:
    printed = type_in(up, blocks_of("docs/api.md"))
    assert "The lamp in the hall is green" in printed


@pytest.mark.slow
def test_backups_restore(up: Up, tmp_path: Path) -> None:
    type_in(up, blocks_of("README.md") + blocks_of("docs/operating.md"))
    printed = type_in(up, blocks_of("docs/operating.md", "sh restore"), RESTORED=str(tmp_path / "restored"))
    assert "All is well" in printed
    assert "nikola-tesla.pdf, page 2" in manage("ask", "Which court restored the patents of Tesla in 1943?",
                                                "--data-dir", str(tmp_path / "restored")).stdout  # fmt: skip
