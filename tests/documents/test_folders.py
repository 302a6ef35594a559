"""Which files an ingest takes from folders."""

import os
from pathlib import Path

import pytest

from documents.ingest.folders import LEADS_OUT, ListedFile, list_files


def taken(*paths: Path, include: tuple[str, ...] = ()) -> list[str]:
    return [one.path.name for one in list_files(paths, include=include) if not one.problem]


def problems(*paths: Path) -> dict[str, str]:
    return {one.path.name: one.problem for one in list_files(paths) if one.problem}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.pdf", "a.md", "sub/c.pdf", "sub/deeper/d.txt", ".hidden.pdf", ".git/e.pdf"):
        file = tmp_path / "top" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path / "top"


def test_files_come_by_name_with_those_of_all_folders_below_and_none_that_are_hidden(folder: Path):
    assert taken(folder) == ["a.md", "b.pdf", "c.pdf", "d.txt"]


def test_what_is_named_itself_is_taken_hidden_or_not(folder: Path):
    assert taken(folder / ".hidden.pdf", folder / "b.pdf", include=("*.md",)) == [".hidden.pdf", "b.pdf"]


def test_include_is_about_names_and_places_below_the_folder(folder: Path):
    assert taken(folder, include=("*.pdf",)) == ["b.pdf", "c.pdf"]
    assert taken(folder, include=("sub/*.pdf", "*.md")) == ["a.md", "c.pdf"]


def test_links_are_followed_but_never_in_a_circle(folder: Path, tmp_path: Path):
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "again").symlink_to(folder / "sub")
    (folder / "itself").symlink_to(folder / "itself")
    (folder / "other.md").symlink_to(folder / "a.md")
    assert sorted(taken(folder)) == ["a.md", "b.pdf", "c.pdf", "d.txt", "other.md"]
    assert list(problems(folder)) == ["itself"]


def test_what_is_missing_or_no_file_is_told_and_a_pipe_never_opened(folder: Path):
    os.mkfifo(folder / "pipe")
    assert taken(folder / "pipe") == []
    assert "not a file" in problems(folder / "pipe")["pipe"]
    assert "No such file" in problems(folder / "missing.pdf")["missing.pdf"]
    assert "pipe" not in taken(folder)


def test_a_link_that_leads_out_of_the_folder_is_told_and_not_followed(tmp_path: Path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.txt").write_text("not for everybody")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "file.txt").symlink_to(tmp_path / "private" / "secret.txt")
    (tmp_path / "shared" / "folder").symlink_to(tmp_path / "private")

    found = list(list_files([tmp_path / "shared"]))

    assert [(one.path.name, one.problem) for one in found] == [("file.txt", LEADS_OUT), ("folder", LEADS_OUT)]
    assert list(list_files([tmp_path / "shared" / "file.txt"])) == [
        ListedFile(tmp_path / "shared" / "file.txt")
    ]
