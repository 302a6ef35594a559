"""A bucket of a real S3 server (moto's, which checks signatures), below a prefix and page by page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from documents.access import FULL
from documents.models import Source
from documents.sources import s3 as reading
from documents.sources import services
from documents.sources.web import Reply
from tests.provider import Provider
from tests.sources.conftest import MakeSource, checksum, finish, killed_at, run, states, stored
from tests.sources.test_runs import counted, note
from tests.support.s3 import S3Server


@pytest.fixture(scope="module")
def _s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(_s3: S3Server, settings: Any) -> S3Server:
    settings.URL_INGEST = True
    settings.URL_ALLOWED_HOSTS = [f"127.0.0.1:{_s3.port}"]
    _s3.bucket.objects.delete()
    return _s3


@pytest.fixture
def config(s3: S3Server) -> dict[str, str]:
    options = s3.options("shared/docs")
    return {name: options[name] for name in ("endpoint", "bucket", "prefix", "region", "access_key_id")}


@pytest.fixture
def source(s3: S3Server, config: dict[str, str], make_source: MakeSource) -> Source:
    return make_source("s3", config, secret=s3.secret)


def put(s3: S3Server, **files: bytes) -> None:
    for name, data in files.items():
        s3.bucket.put_object(Key=f"shared/docs/{name}", Body=data)


def test_a_bucket_stays_in_sync(s3: S3Server, source: Source, provider: Provider):
    names = {f"{n}.md": note(n) for n in range(1, 9)}
    put(
        s3,
        **names,
        **{"Ordner 1/ünter +100%?.md": note(9), "deep/": b"", "deep/.x.md": b"x", "photo.jpg": b"j"},
    )
    s3.bucket.put_object(Key="elsewhere/10.md", Body=note(10))
    s3.bucket.put_object(Key="shared/docs2/11.md", Body=note(11))
    ended = run(source)
    assert (ended.state, counted(ended)) == ("completed", {"added": 9, "skipped": 1})
    assert states(source)["Ordner 1/ünter +100%?.md"] == "taken"
    assert set(stored()) == {checksum(note(n)) for n in range(1, 10)}
    provider.forget_log()
    assert counted(run(source)) == {"unchanged": 9, "skipped": 1}

    put(s3, **{"1.md": note(101), "second.md": note(2)})
    s3.bucket.delete_objects(Delete={"Objects": [{"Key": f"shared/docs/{n}.md"} for n in (2, 3)]})
    assert counted(run(source)) == {"unchanged": 6, "replaced": 1, "moved": 1, "deleted": 1, "skipped": 1}
    assert set(stored()) == {checksum(note(n)) for n in (101, 2, *range(4, 10))}
    assert provider.asked().total() == 1


def test_a_list_comes_in_pages(s3: S3Server, source: Source, monkeypatch: pytest.MonkeyPatch):
    """The server's own pages have 1,000 names: smaller ones are asked for, as servers may give them."""
    put(s3, **{f"{n:02}.md": note(n) for n in range(1, 8)})
    asked: list[str] = []
    real = reading.S3Reader._get

    def get(self: Any, address: str, within_s: float) -> Any:
        if "list-type" in address:
            address = address.replace("&prefix", "&max-keys=3&prefix")
            asked.append(address)
        return real(self, address, within_s)

    monkeypatch.setattr(reading.S3Reader, "_get", get)
    assert counted(run(source)) == {"added": 7}
    assert len(asked) == 3


def test_names_are_read_from_a_list_as_forms_write_them(monkeypatch: pytest.MonkeyPatch):
    """MinIO writes a space as a plus."""
    contents = b"<Contents><Key>A+b%2Bc%20d.md</Key><Size>1</Size></Contents>"

    class Answer:
        def iter_stream(self) -> Iterator[bytes]:
            yield b"<ListBucketResult>" + contents + b"</ListBucketResult>"

    @contextmanager
    def get(self: Any, address: str, within_s: float) -> Iterator[Reply]:
        yield Reply(200, {}, cast("Any", Answer()))

    monkeypatch.setattr(reading.S3Reader, "_get", get)
    reader = reading.S3Reader(
        endpoint="https://192.0.2.1",
        bucket="b",
        prefix="",
        region="eu",
        access_key_id="",
        secret_access_key="",
        allowed_hosts=["192.0.2.1"],
    )
    assert [file.path for file in reader.list_files()] == ["A b+c d.md"]


def test_a_wrong_key_and_a_missing_bucket_are_told(
    s3: S3Server, config: dict[str, str], make_source: MakeSource
):
    ended = run(make_source("s3", config, secret="wrong"))
    assert ended.state == "failed"
    assert "refuses this access" in ended.error
    ended = run(make_source("s3", {**config, "bucket": "nobodys"}, secret=s3.secret, name="other"))
    assert (ended.state, ended.error) == ("failed", "There is nothing at this address.")


def test_an_emptied_bucket_asks_and_a_paused_server_deletes_nothing(s3: S3Server, source: Source):
    put(s3, **{f"{n}.md": note(n) for n in range(1, 4)})
    run(source)
    with s3.forbidden():
        assert run(source).state == "failed"
    s3.bucket.objects.delete()
    assert run(source).state == "needs_confirmation"
    assert len(stored()) == 3
    assert run(source, confirm_deletions=True).state == "completed"
    assert stored() == {}


def test_a_kill_while_objects_are_fetched_is_safe_to_run_again(s3: S3Server, source: Source):
    put(s3, **{f"{n}.md": note(n) for n in range(1, 5)})
    for moment in (2, 4, 6, 7):
        services.start_run(source.name, access=FULL)
        killed_at(source, moment)
        assert finish(source).state == "completed"
        assert set(stored()) == {checksum(note(n)) for n in range(1, 5)}


def test_private_hosts_are_not_asked(s3: S3Server, source: Source, settings: Any):
    settings.URL_ALLOWED_HOSTS = []
    ended = run(source)
    assert ended.state == "failed"
    assert "not on the public internet" in ended.error or "ports" in ended.error
