"""The page's words: every message has its German, and what is compiled is what is written."""

import re
from pathlib import Path

from babel.messages import Catalog, mofile, pofile

import rag

FOLDER = Path(rag.__file__).parent
LOCALE = FOLDER / "locale" / "de" / "LC_MESSAGES"
TEXT = r'"((?:[^"\\]|\\.)*)"'


def messages_of_modules() -> set[str]:
    """What `t` and `tn` are called with; of a plural the singular."""
    sources = [path.read_text() for path in (FOLDER / "static" / "page").glob("*.js")]
    return {found[1] for source in sources for found in re.finditer(rf"\btn?\(\s*{TEXT}", source)}


def test_every_message_of_the_modules_is_in_the_german_catalog():
    with (LOCALE / "djangojs.po").open("rb") as file:
        catalog = pofile.read_po(file)
    translated = {m.id if isinstance(m.id, str) else m.id[0]: m.string for m in catalog if m.id}

    assert messages_of_modules() == set(translated)
    assert all(text if isinstance(text, str) else all(text) for text in translated.values())


def test_names_in_braces_are_kept_by_the_translation():
    with (LOCALE / "djangojs.po").open("rb") as file:
        catalog = pofile.read_po(file)
    for message in catalog:
        ids = (message.id,) if isinstance(message.id, str) else message.id
        texts = (message.string,) if isinstance(message.string, str) else message.string
        for original, text in zip(ids, texts, strict=True):
            assert set(re.findall(r"\{\w+\}", original)) == set(re.findall(r"\{\w+\}", text)), original


def test_the_compiled_catalogs_are_up_to_date():
    for domain in ("django", "djangojs"):
        with (
            (LOCALE / f"{domain}.po").open("rb") as written,
            (LOCALE / f"{domain}.mo").open("rb") as compiled,
        ):
            expected, found = pofile.read_po(written), mofile.read_mo(compiled)
        assert _strings(found) == _strings(expected)


def _strings(catalog: Catalog) -> dict[str, list[str]]:
    """The translations of each message; a plural has several."""

    def listed(text: str | list[str] | tuple[str, ...]) -> list[str]:
        return [text] if isinstance(text, str) else list(text)

    return {listed(message.id)[0]: listed(message.string) for message in catalog if message.id}
