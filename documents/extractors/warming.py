"""Loads all that reading a file may need: a jailed child cannot open another file."""

import encodings
import importlib
import logging
import pkgutil
from contextlib import suppress

from documents.extractors.failures import Unreadable
from documents.extractors.hyphens import rejoin_words
from documents.extractors.limits import Job
from documents.extractors.reading import read_document

_PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R
/Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
4 0 obj <</Length 30>> stream
BT /F 9 Tf 9 9 Td (Hi) Tj ET  \nendstream endobj
trailer <</Root 1 0 R>>
"""


def warm_up() -> None:
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
    read_document(b"# Warm\n\nup", Job("auto", "markdown"))
