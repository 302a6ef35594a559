"""A folder that is edited at random: after each run the collection is as the folder is, at the least cost."""

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.access import FULL
from documents.models import Chunk, Document, IngestItem, Source, SourceItem
from documents.sources import services
from embeddings.ingest.documents import delete_documents
from embeddings.models import Embedding
from tests.provider import Provider
from tests.sources.conftest import bring, checksum, finish, killed_at, run
from tests.support.texts import fact
from tests.support.texts import place as name_of

FOLDERS = ("", "north/", "south/", "south/old/")


def content(number: int) -> bytes:
    return f"# {name_of(number)}\n\n{fact(number)}\n".encode()


class Oracle:
    """What the folder and the collection must be like. files: the number of each file's content, by path.

    needed: how often each content had to be embedded, because it was in the folder and not in the collection.
    """

    def __init__(self, root: Path, source: Source, chance: random.Random) -> None:
        self.root, self.source, self.chance = root, source, chance
        self.files: dict[str, int] = {}
        self.by_hand: dict[int, object] = {}
        self.needed: Counter[int] = Counter()
        self.count = 0

    # Edits

    def edit(self) -> None:
        edits: dict[Callable[[], None], int] = {
            self.add: 6 if len(self.files) < 25 else 1, self.copy: 1, self.change: 3,
            self.change_to_another: 1, self.rename: 3, self.rename_over: 1, self.swap: 1, self.delete: 3,
            self.touch: 1, self.rename_folder: 1, self.bring_by_hand: 1, self.delete_by_hand: 1,
        }  # fmt: skip
        self.chance.choices(list(edits), weights=list(edits.values()))[0]()

    def add(self) -> None:
        self._write(self._new_path(), self._new_number())

    def copy(self) -> None:
        if self.files:
            self._write(self._new_path(), self.files[self._any()])

    def change(self) -> None:
        if self.files:
            self._write(self._any(), self._new_number())

    def change_to_another(self) -> None:
        if self.files:
            self._write(self._any(), self.files[self._any()])

    def rename(self) -> None:
        if self.files:
            self._rename(self._any(), self._new_path())

    def rename_over(self) -> None:
        if len(self.files) > 1:
            self._rename(*self.chance.sample(sorted(self.files), 2))

    def swap(self) -> None:
        if len(self.files) > 1:
            first, second = self.chance.sample(sorted(self.files), 2)
            between = self._new_path()
            self._rename(first, between)
            self._rename(second, first)
            self._rename(between, second)

    def rename_folder(self) -> None:
        for path in [path for path in self.files if path.startswith("north/")]:
            self._rename(path, f"south/{self.count}-{path.replace('/', '-')}")

    def delete(self) -> None:
        if self.files:
            path = self._any()
            (self.root / path).unlink()
            del self.files[path]

    def touch(self) -> None:
        if self.files:
            os.utime(self.root / self._any())

    def bring_by_hand(self) -> None:
        """Now and then what a file holds, which is refused if it is there already."""
        number = (
            self._new_number() if self.chance.random() < 0.5 or not self.files else self.files[self._any()]
        )
        known = checksum(content(number)) in self.present()
        if not known:
            self.needed[number] += 1
            self.by_hand[number] = bring(content(number), "by hand.md")

    def delete_by_hand(self) -> None:
        """A document that came from the source: it comes back, since its file is still there."""
        rows = list(Document.objects.exclude(id__in=self.by_hand.values()).order_by("checksum"))
        if rows:
            delete_documents([self.chance.choice(rows).id], access=FULL)

    # Runs

    def sync(self) -> None:
        fault = self.chance.random()
        if fault < 0.1:
            self.unmount()
        self._note_needed()
        if fault > 0.8:
            services.start_run(str(self.source.id), access=FULL)
            for _ in range(self.chance.randint(1, 3)):
                killed_at(self.source, self.chance.randint(0, 30))
            ended = finish(self.source)
        else:
            ended = run(self.source)
        if ended.state == Source.State.ASKING:
            self._assert_nothing_lost()
            ended = run(self.source, confirm_deletions=True)
        assert (ended.state, ended.error) == (Source.State.COMPLETED, "")
        self.check()

    def unmount(self) -> None:
        """The folder is away, or another one is in its place: nothing goes, whatever was edited meanwhile."""
        before, away = self.present(), self.root.with_name("away")
        self.root.rename(away)
        if self.chance.random() < 0.5:
            ended = run(self.source)
            assert ended.state == Source.State.FAILED, ended.error
        else:
            self.root.mkdir()
            ended = run(self.source)
            expected = Source.State.ASKING if ended.counts["known"] else Source.State.COMPLETED
            assert ended.state == expected, ended.counts
            self.root.rmdir()
        away.rename(self.root)
        assert self.present() >= before

    def check(self) -> None:
        wanted = {checksum(content(number)) for number in self.files.values()}
        by_hand = {checksum(content(number)) for number in self.by_hand}
        documents = {row.checksum: row for row in Document.objects.all()}
        assert set(documents) == wanted | by_hand
        assert {row.status for row in documents.values()} <= {"completed"}
        items = SourceItem.objects.filter(source=self.source)
        has = {str(item.path): item.document for item in items}
        assert has == {path: documents[checksum(content(n))].id for path, n in self.files.items()}
        for number in set(self.files.values()) - set(self.by_hand):
            names = {path.rpartition("/")[2] for path, other in self.files.items() if other == number}
            assert documents[checksum(content(number))].original_filename in names
        assert set(self.by_hand.values()) <= {row.id for row in documents.values()}

    def present(self) -> set[str]:
        """The bytes that the collection has, or is about to have."""
        on_their_way = IngestItem.objects.open().values_list("checksum", flat=True)
        return {*Document.objects.values_list("checksum", flat=True), *on_their_way}

    def _note_needed(self) -> None:
        present = self.present()
        for number in set(self.files.values()):
            if checksum(content(number)) not in present:
                self.needed[number] += 1

    def _assert_nothing_lost(self) -> None:
        assert self.present() >= {checksum(content(number)) for number in self.files.values()}

    def _any(self) -> str:
        return self.chance.choice(sorted(self.files))

    def _new_number(self) -> int:
        self.count += 1
        return self.count * 37

    def _new_path(self) -> str:
        self.count += 1
        return f"{self.chance.choice(FOLDERS)}{name_of(self.count * 37)}.md"

    def _write(self, path: str, number: int) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content(number))
        self.files[path] = number

    def _rename(self, path: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / new)
        self.files[new] = self.files.pop(path)


@pytest.mark.parametrize(
    "edits",
    [40, *(pytest.param(250, marks=pytest.mark.slow, id=f"250, {part} of 4") for part in range(1, 5))],
)
def test_after_random_edits_the_collection_is_as_the_folder_is(
    place: Path, source: Source, provider: Provider, chance: random.Random, edits: int
):
    oracle = Oracle(place, source, chance)
    left = edits
    while left > 0:
        some = min(left, chance.randint(1, 6))
        for _ in range(some):
            oracle.edit()
        left -= some
        oracle.sync()

    assert Embedding.objects.count() == Chunk.objects.count()
    asked = Counter[int]()
    numbers = {name_of(number): number for number in range(0, (oracle.count + 1) * 37, 37)}
    for text, times in provider.asked().items():
        (number,) = {numbers[word] for word in text.replace("#", " ").split() if word in numbers}
        asked[number] += times
    print(f"{edits} edits: {asked.total()} vectors written, {oracle.needed.total()} needed")
    assert asked == oracle.needed
    shutil.rmtree(place)
