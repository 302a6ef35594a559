"""The code of others that the page loads is what its makers published, letter by letter."""

import hashlib
import re
from pathlib import Path

import rag

VENDOR = Path(rag.__file__).parent / "static" / "page" / "vendor"
HTM_3_1_1 = "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7"  # preact/standalone.module.js


def test_the_vendored_file_is_that_of_the_npm_package():
    assert hashlib.sha256((VENDOR / "preact-htm.js").read_bytes()).hexdigest() == HTM_3_1_1


def test_each_vendored_file_stands_in_the_list_with_its_hash_and_licence():
    rows = re.findall(
        r"^\| `([\w.-]+\.js)` \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "VENDOR.md").read_text(), re.M
    )

    assert dict(rows) == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")
    }
    for name in re.findall(r"`(LICENSE\.\w+)`", (VENDOR / "VENDOR.md").read_text()):
        assert (VENDOR / name).stat().st_size > 1000
