"""The reader of mail, as it was sent (EML): bytes -> Extraction. Runs in the sandbox only.

Files that are attached come along with the text; who stores the mail makes documents of them.
"""

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from documents.extractors.composer import Composer
from documents.extractors.decoding import decode, has_byte_order_mark
from documents.extractors.failures import ATTACHMENTS_LEFT_OUT, MAX_TEXT_BYTES, TOO_MUCH_TEXT, Unreadable
from documents.extractors.html import parse_shown
from documents.extractors.markup import compose
from documents.extractors.packages import clean_fields
from documents.text.characters import clean_filename, clean_label, has_text
from documents.types import MAX_ATTACHED_BYTES, MAX_ATTACHMENTS, Attachment, Extraction, Source

BROKEN_MAIL = "The mail is damaged and cannot be read."
ENCRYPTED = "The mail is encrypted; only its headers were read."
_ENCRYPTED = frozenset({"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
# Headers stay as they were written, in a mail that is attached to another, too.
MAIL_POLICY = policy.default.clone(refold_source="none")
_EIGHT_BIT = re.compile("[\udc80-\udcff]")  # bytes of a header that are no ASCII
_MAX_PARSED_HEADER = 10_000  # characters
_MAX_DEPTH = 20  # of parts within parts
_SHOWN = ("From", "To", "Cc", "Date")
_NO_DOCUMENTS = frozenset({"image", "audio", "video"})
_NO_DOCUMENT_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".p7s", ".asc", ".sig")


def read_eml(data: bytes) -> Extraction:
    """Read a message: who wrote to whom, its text, and what is attached to it. Raises Unreadable."""
    try:
        data = decode(data).encode() if has_byte_order_mark(data) else data
        message = BytesParser(policy=MAIL_POLICY).parsebytes(data)
        return read_message(message, "EML")
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as exc:  # the library raises whatever comes to hand of headers out of order
        raise Unreadable(BROKEN_MAIL) from exc


def read_message(message: EmailMessage, source: Source, warnings: tuple[str, ...] = ()) -> Extraction:
    """Read a message that is parsed. Raises Unreadable, and what the library raises of a damaged one."""
    composer = Composer()
    subject = _read_header(message, "Subject")
    composer.add_heading(1, subject)
    lines = [f"{name}: {value}" for name in _SHOWN if (value := _read_header(message, name))]
    composer.add_paragraph("\n".join(lines))
    attachments: list[Attachment] = []
    room, left_out = MAX_ATTACHED_BYTES, False
    for part in _iter_parts(message, 0):
        if not _is_file(part):
            _compose_text(part, composer)
        elif part.get_content_type() in _ENCRYPTED:
            warnings = (ENCRYPTED,)
        elif not _is_no_document(part):
            attachment = _read_file(part)
            room -= len(attachment.data)
            if len(attachments) == MAX_ATTACHMENTS or room < 0:
                left_out = True
            elif attachment.data:
                attachments.append(attachment)
    fields = {
        "author": _read_header(message, "From"),
        "to": _read_header(message, "To"),
        "cc": _read_header(message, "Cc"),
        "date": _read_header(message, "Date"),
        "message_id": _read_header(message, "Message-ID"),
        "attachments": ", ".join(attachment.filename for attachment in attachments),
    }
    return composer.finish(
        source,
        title=subject,
        metadata=clean_fields(fields),
        warnings=warnings + (ATTACHMENTS_LEFT_OUT,) * left_out,
        attachments=tuple(attachments),
    )


def _iter_parts(part: Any, depth: int) -> Iterator[Any]:
    """Yield texts and files in order; of alternatives the plain text, else the last, the richest one."""
    parts = part.get_payload()
    if part.get_content_maintype() != "multipart" or not isinstance(parts, list):
        yield part
    elif depth == _MAX_DEPTH:
        raise Unreadable(BROKEN_MAIL)
    elif part.get_content_subtype() == "alternative" and parts:
        plain = (one for one in parts if one.get_content_type() == "text/plain" and has_text(_read_text(one)))
        rich = [one for one in parts if one.get_content_type() != "text/calendar"] or parts
        shown = next(plain, rich[-1])
        yield from _iter_parts(shown, depth + 1)
        for other in parts:  # Apple's mail has its files beside the HTML
            if other is not shown and other.get_content_maintype() == "multipart":
                yield from filter(_is_file, _iter_parts(other, depth + 1))
    else:
        for one in parts:
            yield from _iter_parts(one, depth + 1)


def _is_file(part: Any) -> bool:
    if part.get_content_type() not in ("text/plain", "text/html"):
        return True
    return part.get_content_disposition() == "attachment" or bool(_read_filename(part))


def _is_no_document(part: Any) -> bool:
    """Tell if it is a picture, a sound, or a signature, which many mails carry along."""
    return (
        part.get_content_maintype() in _NO_DOCUMENTS
        or "signature" in part.get_content_subtype()
        or _read_filename(part).lower().endswith(_NO_DOCUMENT_ENDINGS)
    )


def _compose_text(part: Any, composer: Composer) -> None:
    if part.get_content_type() == "text/html":
        data = part.get_payload(decode=True) or b""
        if data.strip():
            compose(parse_shown(data, label=part.get_content_charset("")), composer)
    else:
        composer.add_paragraph(_read_text(part))


def _read_text(part: Any) -> str:
    data = part.get_payload(decode=True) or b""
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    return decode(data, label=part.get_content_charset("")) if data else ""


def _read_file(part: Any) -> Attachment:
    """Return a file; a mail that is attached is a file of its own."""
    name = _read_filename(part)
    if part.get_content_type() == "message/rfc822":
        mail = part.get_payload(0)
        name = name or _read_header(mail, "Subject")[:100] or "mail"
        data = mail.as_bytes(policy=MAIL_POLICY)
        return Attachment(clean_filename(name.replace("/", "-").removesuffix(".eml") + ".eml"), data)
    return Attachment(clean_filename(name or "attachment"), part.get_payload(decode=True) or b"")


def _read_filename(part: Any) -> str:
    try:
        return part.get_filename() or ""
    except (LookupError, ValueError):  # an unknown character set in filename*
        return ""


def _read_header(message: Any, name: str) -> str:
    """Return a header as one line; "" for one that is too far from any rule to be parsed.

    A long one is left as it is written, since the library's parser takes time by the square of the length.
    """
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    if len(raw) > _MAX_PARSED_HEADER:
        return clean_label(raw)
    try:
        if _EIGHT_BIT.search(raw):  # as old programs write it, in the letters of the text
            texts = (part for part in message.walk() if part.get_content_maintype() == "text")
            label = next((part.get_content_charset("") for part in texts), "")
            raw = decode(raw.encode("utf-8", "surrogateescape"), label=label)
            return clean_label(str(MAIL_POLICY.header_factory(name, raw)))
        return clean_label(str(message[name] or ""))
    except Exception:  # noqa: BLE001 - the library's parser of headers raises whatever comes to hand
        return ""
