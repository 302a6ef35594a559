"""Compound files ([MS-CFB]), in which Outlook keeps mail; written here, since libraries only read them."""

import struct
from collections.abc import Mapping
from typing import Any

_SECTOR, _NONE, _END, _FAT = 512, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_LEAST = 4096  # smaller streams would lie in a table of their own


def make_compound_file(root: Mapping[str, Any]) -> bytes:
    """Return a file of storages (mappings) and streams (bytes), which are padded with zeros to 4096 bytes."""
    entries: list[list[Any]] = [["Root Entry", _ROOT, _NONE, _NONE, b""]]  # name, type, right, child, data
    _add_children(entries, 0, root)
    sectors: list[bytes] = []
    fat: list[int] = []

    def store(data: bytes) -> int:
        blocks = [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
        fat.extend([*range(len(fat) + 1, len(fat) + len(blocks)), _END])
        sectors.extend(blocks)
        return len(fat) - len(blocks)

    rows = []
    for name, kind, right, child, data in entries:
        padded = data.ljust(_LEAST, b"\0") if kind == _STREAM else b""
        written = name.encode("utf-16-le")
        place = store(padded) if padded else _END
        head = struct.pack("<64sHBBIII", written, len(written) + 2, kind, 1, _NONE, right, child)
        rows.append(head + bytes(36) + struct.pack("<IQ", place, len(padded)))
    directory = store(b"".join(rows))
    count = 1
    while count * 128 < len(fat) + count:
        count += 1
    places = range(len(fat), len(fat) + count)
    fat.extend([_FAT] * count)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(count * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6,
        0, count, directory, 0, _LEAST, _END, 0, _END, 0,
    )  # fmt: skip
    return header + struct.pack("<109I", *places, *[_NONE] * (109 - count)) + b"".join(sectors) + table


def _add_children(entries: list[list[Any]], parent: int, children: Mapping[str, Any]) -> None:
    """Add them as a list, each the right neighbour of the one before."""
    place, before = 3, parent  # of the link in an entry
    for name, content in children.items():
        entries[before][place] = len(entries)
        place, before = 2, len(entries)
        is_stream = isinstance(content, bytes)
        entries.append(
            [name, _STREAM if is_stream else _STORAGE, _NONE, _NONE, content if is_stream else b""]
        )
        if not is_stream:
            _add_children(entries, before, content)
