"""The reader of mail as Outlook keeps it (MSG): bytes -> Extraction. Runs in the sandbox only.

The properties of [MS-OXMSG] are made into a message of the standard library, which is read as any other.
"""

import struct
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from io import BytesIO

import olefile

from documents.extractors.decoding import decode
from documents.extractors.failures import Unreadable
from documents.extractors.office.mail import BROKEN_MAIL, MAIL_POLICY, read_message
from documents.text.characters import clean_characters, clean_filename, clean_label
from documents.types import MAX_ATTACHMENTS, Extraction

ONLY_RICH_TEXT = "Outlook kept the mail's text as rich text only, which was not read."
_MAX_DEPTH = 5  # of mails within mails, each of which is a file of the one around it
_PROPERTIES = "__properties_version1.0"
_ATTACHMENT = "__attach_version1.0_#"
_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0037, 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC, _MESSAGE_ID, _SENT, _DELIVERED = 0x0E04, 0x0E03, 0x1035, 0x0039, 0x0E06
_BODY, _RICH_TEXT, _HTML = 0x1000, 0x1009, 0x1013
_DATA, _NAME, _LONG_NAME = 0x3701, 0x3704, 0x3707
_CODEPAGE, _INTERNET_CODEPAGE = 0x3FFD, 0x3FDE
_UNICODE, _EIGHT_BIT, _BYTES, _OBJECT = "001F", "001E", "0102", "000D"


def read_msg(data: bytes) -> Extraction:
    """Read a mail: who wrote to whom, its text, and what is attached to it. Raises Unreadable."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as file:
            mail = _Storage(file, [])
            return read_message(mail.to_message(0), "MSG", (ONLY_RICH_TEXT,) * mail.has_only_rich_text)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as exc:  # OleFileError, IndexError, struct.error… for what is not as it should be
        raise Unreadable(BROKEN_MAIL) from exc


class _Storage:
    """A mail or an attachment: a folder of the file, whose streams are named after properties."""

    def __init__(self, file: olefile.OleFileIO, path: list[str]) -> None:
        self._file, self._path = file, path

    @property
    def has_only_rich_text(self) -> bool:
        return bool(self.data(_RICH_TEXT)) and not self.text(_BODY) and not self.html()

    def to_message(self, depth: int) -> EmailMessage:
        message = EmailMessage(policy=MAIL_POLICY)
        address = self.text(_SENDER_SMTP) or self.text(_SENDER_ADDRESS)
        headers = {
            "Subject": self.text(_SUBJECT),
            "From": " ".join(filter(None, (self.text(_SENDER), f"<{address}>" if "@" in address else ""))),
            "To": self.text(_TO),
            "Cc": self.text(_CC),
            "Date": self._sent(),
            "Message-ID": self.text(_MESSAGE_ID),
        }
        for name, value in headers.items():
            if line := clean_label(value):
                message[name] = line
        message.set_content(clean_characters(self.text(_BODY)))
        if html := self.html():
            message.add_alternative(html, "text", "html")
        for attachment in self._attachments():
            name = attachment.text(_LONG_NAME) or attachment.text(_NAME) or "attachment"
            mail = attachment.inner(_DATA)
            if mail is None:
                data = attachment.data(_DATA)
                message.add_attachment(data, "application", "octet-stream", filename=clean_filename(name))
            elif depth < _MAX_DEPTH:
                message.add_attachment(mail.to_message(depth + 1))
        return message

    def text(self, number: int) -> str:
        if unicode := self._read(number, _UNICODE):
            return unicode.decode("utf-16-le", "replace").rstrip("\0")
        eight_bit = self._read(number, _EIGHT_BIT).rstrip(b"\0")
        numbers = self._numbers() if eight_bit else {}
        codepage = numbers.get(_CODEPAGE) or numbers.get(_INTERNET_CODEPAGE)
        return decode(eight_bit, label=f"cp{codepage}") if eight_bit else ""

    def data(self, number: int) -> bytes:
        return self._read(number, _BYTES)

    def html(self) -> bytes:
        return self.data(_HTML) or self.text(_HTML).encode()

    def inner(self, number: int) -> "_Storage | None":
        """Return the storage that a property is, None if it is none."""
        path = [*self._path, f"__substg1.0_{number:04X}{_OBJECT}"]
        is_storage = self._file.exists(path) and self._file.get_type(path) == olefile.STGTY_STORAGE
        return _Storage(self._file, path) if is_storage else None

    def _attachments(self) -> list["_Storage"]:
        depth = len(self._path)
        paths = [
            path
            for path in self._file.listdir(streams=False, storages=True)
            if len(path) == depth + 1 and path[:depth] == self._path and path[depth].startswith(_ATTACHMENT)
        ]
        return [_Storage(self._file, path) for path in sorted(paths)[: MAX_ATTACHMENTS + 1]]

    def _read(self, number: int, kind: str) -> bytes:
        path = [*self._path, f"__substg1.0_{number:04X}{kind}"]
        return self._file.openstream(path).read() if self._file.exists(path) else b""

    def _numbers(self) -> dict[int, int]:
        """Return the properties of a fixed size: a table of 16 bytes each, behind a head."""
        path = [*self._path, _PROPERTIES]
        table = self._file.openstream(path).read() if self._file.exists(path) else b""
        starts = range(24 if self._path else 32, len(table) - 15, 16)
        rows = (struct.unpack_from("<HHIQ", table, start) for start in starts)
        return {number: value for _, number, _, value in rows}

    def _sent(self) -> str:
        """Return when it was sent, or came."""
        numbers = self._numbers()
        ticks = numbers.get(_SENT) or numbers.get(_DELIVERED)  # of 100 ns, since 1601
        if not ticks:
            return ""
        return format_datetime(datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10))
