"""Loads all that reading a file may need: a jailed child cannot open another file."""

import encodings
import importlib
import logging
import pkgutil
from contextlib import suppress
from functools import cache
from io import BytesIO

from documents.extractors.cleaning import rejoin_words
from documents.extractors.failures import Unreadable
from documents.extractors.readers import read_document
from documents.extractors.sandbox.limits import Job
from documents.types import ALL_SOURCES

_PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R
/Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
4 0 obj <</Length 30>> stream
BT /F 9 Tf 9 9 Td (Hi) Tj ET  \nendstream endobj
trailer <</Root 1 0 R>>
"""


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Warm</title>
<meta name="author" content="A. Writer">
<meta property="article:published_time" content="2024-01-31T10:00:00Z">
<script type="application/ld+json">{"@type": "Article", "headline": "Warm"}</script></head><body><nav>no</nav>
<article><h1>Warm</h1><p>By A. Writer, 31 January 2024</p>%s<ul><li>up</li></ul><pre>code</pre>
<table><tr><th>a</th><td>b</td></tr></table></article></body></html>""" % (
    "<p>Words of a paragraph, and more.</p>" * 9
)
_LETTERS = {"cp1252": "café", "cp1251": "Привет, это простой текст.", "cp932": "これは日本語の文です。"}


def warm_up() -> None:
    """For PDF and Markdown."""
    logging.disable(logging.CRITICAL)  # pypdf warns of every fault of a file
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some exist on Windows only
            importlib.import_module(f"encodings.{module.name}")
    for module_name in ("pypdf._encryption", "pypdf._crypt_providers", "pypdf.generic._image_inline"):
        importlib.import_module(module_name)
    rejoin_words("warm\ufffe\nup")
    for reader in ("pdfium", "pypdf"):
        with suppress(Unreadable):
            read_document(_PDF, Job(reader))
    read_document(b"---\ntitle: Warm\n---\n# Warm\n\nup", Job("auto", "markdown"))


@cache
def warm_up_the_rest() -> None:
    """For HTML, DOCX and plain text: some 0.4 s of CPU and 30 MB, which a nursery for PDFs does without."""
    for text in (_PAGE, "<html><body><p>Hardly anything.</p></body></html>"):
        read_document(text.encode(), Job("auto", "html", ALL_SOURCES))
    for encoding, text in _LETTERS.items():
        read_document(text.encode(encoding), Job("auto", "text", ALL_SOURCES))
    read_document(_word_file(), Job("auto", sources=ALL_SOURCES))


def _word_file() -> bytes:
    import docx  # not before the first such file

    document = docx.Document()
    document.add_heading("Warm")
    document.add_paragraph("up", style="List Bullet")
    document.add_table(2, 2).cell(0, 0).text = "cell"
    file = BytesIO()
    document.save(file)
    return file.getvalue()
