"""One suite for the Protocol FileStore, on a disk and in a bucket; and what is a bucket's own."""

import io
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection

from documents.file_stores.local import LocalFiles
from documents.file_stores.s3 import S3Files
from documents.library import storage
from documents.protocols import FileStore
from embeddings.sanity.files import GRACE_S, check_files
from knowlex.base.errors import FilesUnavailable
from tests.support.api import UNKNOWN_ID
from tests.support.s3 import S3Server
from tests.support.servers import port_of_nobody

pytestmark = pytest.mark.django_db
NAME = "documents/0192a3b4-0000-7000-8000-000000000001.pdf"
MakeStaged = Callable[[bytes], Path]


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def prefix() -> str:
    return f"tests/{secrets.token_hex(4)}"


@pytest.fixture(params=["local", "s3"])
def store(request: pytest.FixtureRequest, settings: LazySettings, tmp_path: Path, prefix: str) -> FileStore:
    settings.MEDIA_ROOT = str(tmp_path / "files")
    Path(settings.MEDIA_ROOT).mkdir()
    if request.param == "local":
        return LocalFiles()
    return S3Files(**request.getfixturevalue("s3").options(prefix))


@pytest.fixture
def staged(settings: LazySettings, tmp_path: Path) -> MakeStaged:
    def write(data: bytes) -> Path:
        path = tmp_path / f"{secrets.token_hex(4)}.part"
        path.write_bytes(data)
        return path

    return write


def read(store: FileStore, name: str) -> bytes:
    with store.open(name) as file:
        return b"".join(iter(lambda: file.read(4096), b""))


@pytest.mark.parametrize("size", [0, 1, 10_000, 3 * 2**20 + 1])
def test_what_is_kept_is_read_again_byte_by_byte(store: FileStore, staged: MakeStaged, size: int):
    data = os.urandom(size)
    name = store.keep(NAME, staged(data))
    assert (name[:46], name[-4:]) == (NAME[:46], ".pdf")
    assert store.sizes([name, "documents/nothing.pdf", ""]) == {name: size}
    assert read(store, name) == data


def test_what_is_not_there_is_not_found(store: FileStore):
    with pytest.raises(FileNotFoundError):
        read(store, NAME)
    assert store.sizes([NAME]) == {}
    store.remove(NAME)


def test_a_second_file_of_the_same_name_leaves_the_first_as_it_was(store: FileStore, staged: MakeStaged):
    first, second = store.keep(NAME, staged(b"one")), store.keep(NAME, staged(b"two"))
    assert first != second
    assert (read(store, first), read(store, second)) == (b"one", b"two")


def test_files_are_listed_and_measured_in_any_number(store: FileStore, staged: MakeStaged):
    kept = [store.keep(f"documents/{n:036d}.txt", staged(b"x" * n)) for n in range(12)]
    assert {file.name: file.size_bytes for file in store.list_files()} == dict(
        zip(kept, range(12), strict=True)
    )
    assert all(-5 < file.age_s < 60 for file in store.list_files())
    asked = [kept[9], kept[2], "documents/none.txt", kept[5], kept[11]]
    assert store.sizes(asked) == {kept[2]: 2, kept[5]: 5, kept[9]: 9, kept[11]: 11}


def test_a_file_goes_once_it_is_nobodys(store: FileStore, staged: MakeStaged):
    name = store.keep(NAME, staged(b"one"))
    assert not store.remove_unowned(name, lambda: True)
    assert store.sizes([name]) == {name: 3}
    assert store.remove_unowned(name, lambda: False)
    assert store.sizes([name]) == {}


def test_a_file_of_a_backup_has_just_its_name_and_one_that_is_there_stays(
    store: FileStore, tmp_path: Path, staged: MakeStaged
):
    for content, expected in ((b"first", b"first"), (b"other", b"first"), (b"longer one", b"longer one")):
        with staged(content).open("rb") as source:
            store.put(NAME, source)
        assert read(store, NAME) == expected


def test_a_store_that_works_is_writable(store: FileStore):
    assert store.check() == "writable"


# A bucket


def test_a_store_that_refuses_connections_is_unavailable(prefix: str, staged: MakeStaged, s3: S3Server):
    with port_of_nobody() as port:
        store = S3Files(**s3.options(prefix) | {"endpoint": f"http://127.0.0.1:{port}"})
        for call in (
            lambda: store.keep(NAME, staged(b"one")),
            lambda: store.open(NAME),
            lambda: store.sizes([NAME]),
            lambda: list(store.list_files()),
            lambda: store.remove(NAME),
            store.check,
        ):
            with pytest.raises(FilesUnavailable, match="cannot be reached"):
                call()


def test_a_wrong_secret_is_refused_and_not_told(prefix: str, s3: S3Server, staged: MakeStaged):
    store = S3Files(**s3.options(prefix) | {"secret_access_key": "not-the-secret-7f3a"})
    with pytest.raises(FilesUnavailable) as raised:
        store.keep(NAME, staged(b"one"))
    assert raised.value.message == "The store of files refuses this server."
    assert store.check() == "refused"


def test_a_bucket_that_is_not_there_is_missing(prefix: str, s3: S3Server):
    assert S3Files(**s3.options(prefix) | {"bucket": "no-such-bucket"}).check() == "missing"


def test_a_bucket_of_another_database_is_left_alone(prefix: str, s3: S3Server, staged: MakeStaged):
    name = S3Files(**s3.options(prefix)).keep(NAME, staged(b"one"))
    assert read(S3Files(**s3.options(prefix)), name) == b"one"  # of another process on the same database
    s3.bucket.put_object(Key=f"{prefix}/knowlex_owner", Body=b"7301/16384")
    copy = S3Files(**s3.options(prefix))
    with pytest.raises(FilesUnavailable, match="belongs to another"):
        copy.remove(name)
    assert copy.check() == "refused"
    assert name in s3.keys(prefix)


def test_many_files_are_listed_page_by_page(prefix: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("documents.file_stores.s3.PAGE", 5)
    for number in range(23):
        s3.bucket.put_object(Key=f"{prefix}/documents/{number:036d}.txt", Body=b"x")
    store = S3Files(**s3.options(prefix))
    names = [file.name for file in store.list_files()]
    assert len(set(names)) == len(names) == 23
    some = names[3:20:4]
    assert store.sizes(some) == dict.fromkeys(some, 1)


def test_what_no_row_names_is_told_by_sanity_and_swept_once_it_is_old(
    prefix: str, s3: S3Server, settings: LazySettings, staged: MakeStaged, tmp_path: Path
):
    def use(**options: float) -> None:
        part = {"class": "documents.file_stores.s3.S3Files", "options": s3.options(prefix) | options}
        settings.KNOWLEX = settings.KNOWLEX | {"FILE_STORE": part}

    def unknown() -> int:
        return next(one.broken for one in check_files(deep=False) if one.name == "file_without_row")

    settings.MEDIA_ROOT = str(tmp_path)
    use()
    name = storage.file_store().keep(f"documents/{UNKNOWN_ID}.pdf", staged(b"x"))
    s3.bucket.put_object(Key=f"{prefix}/documents/not-ours.pdf", Body=b"x")
    assert (unknown(), storage.sweep_orphan_files()) == (0, 0)
    use(unowned_after_s=-2 * GRACE_S)
    assert (unknown(), storage.sweep_orphan_files()) == (2, 1)
    assert name not in s3.keys(prefix)
    assert "documents/not-ours.pdf" in s3.keys(prefix)


def test_a_file_that_is_cut_off_on_its_way_is_no_shorter_file(prefix: str, s3: S3Server, staged: MakeStaged):
    store = S3Files(**s3.options(prefix))
    name = store.keep(NAME, staged(os.urandom(200_000)))
    file = store.open(name)
    file.read(1000)
    file._body._raw_stream._fp = io.BytesIO(b"the rest of it is lost")  # as when the connection ends
    with pytest.raises(FilesUnavailable):
        list(iter(lambda: file.read(50_000), b""))


def test_a_child_has_connections_of_its_own(prefix: str, s3: S3Server, staged: MakeStaged):
    store = S3Files(**s3.options(prefix))
    name = store.keep(NAME, staged(b"from the parent"))
    reader, writer = os.pipe()
    connection.close()
    if (child := os.fork()) == 0:
        status = 1
        try:
            store._is_ours = True  # the test's transaction is the parent's
            os.write(writer, read(store, name))
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 100) == b"from the parent"
