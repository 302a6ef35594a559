"""Take the page's messages from its modules into the German catalog, and compile the catalogs.

python samples/messages.py: writes rag/locale/de/LC_MESSAGES/djangojs.po and both .mo files, lists what has no
German yet, and exits with 1 then.
"""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from babel.messages import Catalog, mofile, pofile

PAGE = Path(__file__).resolve().parent.parent / "rag" / "static" / "page"
LOCALE = PAGE.parent.parent / "locale" / "de" / "LC_MESSAGES"
TEXT = r'("(?:[^"\\]|\\.)*")'
SINGLE = re.compile(rf"\bt\(\s*{TEXT}")
PLURAL = re.compile(rf"\btn\(\s*{TEXT}\s*,\s*{TEXT}")


def main() -> None:
    catalog = update_catalog(LOCALE / "djangojs.po", read_messages())
    for domain in ("django", "djangojs"):
        compile_catalog(domain)
    missing = [message.id for message in catalog if message.id and not _is_translated(message.string)]
    for message in missing:
        print(f"No German yet: {message}")
    sys.exit(1 if missing else 0)


def read_messages() -> dict[str, str]:
    """Return what `t` and `tn` are called with, each with its plural form, "" for none."""
    messages: dict[str, str] = {}
    for path in sorted(PAGE.glob("*.js")):
        source = path.read_text("utf-8")
        messages |= {json.loads(match[1]): "" for match in SINGLE.finditer(source)}
        messages |= {json.loads(match[1]): json.loads(match[2]) for match in PLURAL.finditer(source)}
    return messages


def update_catalog(path: Path, messages: dict[str, str]) -> Catalog:
    """Add what is new without a translation, drop what is gone, and keep the rest and the header."""
    header = path.read_text("utf-8").partition("\n\n")[0]
    with path.open("rb") as file:
        old = pofile.read_po(file, locale="de")
    catalog = Catalog(locale="de")
    for message, plural in messages.items():
        known = old.get(message)
        catalog.add((message, plural) if plural else message, known.string if known else None)
    with path.open("wb") as file:
        file.write(f"{header}\n\n".encode())
        pofile.write_po(file, catalog, width=0, omit_header=True, sort_output=True)
    return catalog


def compile_catalog(domain: str) -> None:
    """Compile; without the time of day in the header, so that the same messages make the same file."""
    with (LOCALE / f"{domain}.po").open("rb") as source, (LOCALE / f"{domain}.mo").open("wb") as compiled:
        catalog = pofile.read_po(source, locale="de")
        catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
        mofile.write_mo(compiled, catalog)


def _is_translated(text: str | tuple[str, ...] | list[str] | None) -> bool:
    return all(text) if isinstance(text, (tuple, list)) else bool(text)


if __name__ == "__main__":
    main()
