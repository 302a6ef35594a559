"""Mail: who wrote what to whom, in letters that were meant, and the files that came with it."""

import struct
from email.message import EmailMessage

import pytest

from documents.extractors.failures import ATTACHMENTS_LEFT_OUT, Unreadable
from documents.extractors.office.mail import ENCRYPTED, read_eml
from documents.extractors.office.msg import ONLY_RICH_TEXT, read_msg
from documents.types import MAX_ATTACHMENTS, Heading
from tests.support.compound_file import make_compound_file

HEAD = b"From: Ann Lee <ann@example.com>\r\nTo: Bob <bob@example.com>\r\nSubject: The lamp\r\n"


def letter(text: str = "The lamp is green.", html: str = "") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Ann Lee <ann@example.com>", "Bob <bob@example.com>"
    mail["Subject"], mail["Date"] = "The lamp", "Wed, 31 Jan 2024 10:00:00 +0000"
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail


def test_a_mail_is_its_subject_its_people_and_its_text() -> None:
    found = read_eml(letter("Hello,\n\nThe lamp in the café is green.", "<p>Never mind</p>").as_bytes())
    assert found.text == (
        "The lamp\n\nFrom: Ann Lee <ann@example.com>\nTo: Bob <bob@example.com>\n"
        "Date: Wed, 31 Jan 2024 10:00:00 +0000\n\nHello,\n\nThe lamp in the café is green."
    )
    assert found.headings == (Heading(1, "The lamp", 0),)
    assert (found.title, found.metadata["author"]) == ("The lamp", "Ann Lee <ann@example.com>")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (b"Content-Type: text/plain; charset=koi8-r\r\n\r\n" + "Лампа горит".encode("koi8-r"), "Лампа горит"),
        (b"Content-Type: text/plain; charset=no-such-thing\r\n\r\nplain words", "plain words"),
        (b"Content-Type: text/html\r\n\r\n<h2>Green</h2><script>no</script><p>lamp</p>", "Green\n\nlamp"),
        (b"Content-Type: text/html; charset=iso-2022-jp\r\n\r\n" + "会議".encode("iso2022_jp"), "会議"),
        (b"Content-Type: text/html; charset=koi8-r\r\n\r\n" + "Да, в 5.".encode("koi8-r"), "Да, в 5."),
        (b"Content-Type: text/html; charset=iso-8859-2\r\n\r\n<meta charset=koi8-r>"
            + "Да, в 5.".encode("koi8-r"), "Да, в 5."),
        (b"Content-Transfer-Encoding: base64\r\n\r\nR3JlZW4gbGFtcA==", "Green lamp"),
        (b"\r\nno header says what it is", "no header says what it is"),
    ],
)  # fmt: skip
def test_the_text_is_decoded_as_it_was_written(part: bytes, text: str) -> None:
    assert read_eml(HEAD + part).text.endswith(f"\n\n{text}")


@pytest.mark.parametrize(
    ("subject", "charset"), [("اجتماع", "cp1256"), ("Größe", "utf-8"), ("会议通知", "gb18030")]
)
def test_a_subject_is_read_that_was_sent_as_bytes(subject: str, charset: str) -> None:
    head = HEAD.replace(b"The lamp", subject.encode(charset))
    label = f"Content-Type: text/plain; charset={charset}\r\n\r\n"
    assert read_eml(head + label.encode() + b"Text.").title == subject


def test_the_html_is_read_where_the_plain_text_is_empty() -> None:
    assert read_eml(letter("  ", "<p>The lamp is red.</p>").as_bytes()).text.endswith("The lamp is red.")


def test_files_come_along_and_pictures_and_signatures_do_not() -> None:
    mail = letter()
    mail.add_attachment(b"%PDF-1.4", "application", "pdf", filename="../größe.pdf")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="logo.png")
    mail.add_attachment(b"-----", "application", "pgp-signature", filename="signature.asc")
    mail.add_attachment("plain words", filename="notes.txt")
    mail.add_attachment(b"", "application", "pdf", filename="empty.pdf")
    inner = letter("Older.")
    inner.replace_header("Subject", "Re: a/b")
    mail.add_attachment(inner)
    found = read_eml(mail.as_bytes())
    assert [file.filename for file in found.attachments] == ["größe.pdf", "notes.txt", "Re: a-b.eml"]
    assert found.attachments[0].data == b"%PDF-1.4"
    assert "plain words" not in found.text
    assert read_eml(found.attachments[2].data).text.endswith("Older.")
    assert found.metadata["attachments"] == "größe.pdf, notes.txt, Re: a-b.eml"
    assert found.warnings == ()


def test_a_file_beside_the_html_of_a_mail_with_plain_text_comes_along() -> None:
    mail = letter("The contract is attached.", "<p>The contract is attached.</p>")
    rich = mail.get_payload(1)
    assert isinstance(rich, EmailMessage)
    rich.add_attachment(b"%PDF-1.4", "application", "pdf", filename="contract.pdf", disposition="inline")
    found = read_eml(mail.as_bytes())
    assert [file.filename for file in found.attachments] == ["contract.pdf"]
    assert found.text.count("The contract is attached.") == 1


def test_too_many_files_are_left_out_and_told_of() -> None:
    mail = letter()
    for number in range(MAX_ATTACHMENTS + 1):
        mail.add_attachment(b"x", "application", "pdf", filename=f"{number}.pdf")
    found = read_eml(mail.as_bytes())
    assert (len(found.attachments), found.warnings) == (MAX_ATTACHMENTS, (ATTACHMENTS_LEFT_OUT,))


def test_an_encrypted_mail_says_so() -> None:
    found = read_eml(HEAD + b"Content-Type: application/pkcs7-mime; name=smime.p7m\r\n\r\nabc")
    assert (found.warnings, found.attachments) == ((ENCRYPTED,), ())


@pytest.mark.parametrize(
    "header", [b"To: " + b"(" * 300, b"Date: \xff\xfe", b"Subject: =?x?q?=FF?=", b"From: <<<@"]
)
def test_a_header_out_of_order_costs_no_more_than_itself(header: bytes) -> None:
    assert read_eml(header + b"\r\n\r\nThe lamp is green.").text.endswith("The lamp is green.")


def test_parts_nested_too_deeply_are_refused() -> None:
    opening = b"".join(
        b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (n, n) for n in range(40)
    )
    with pytest.raises(Unreadable, match="The mail is damaged"):
        read_eml(HEAD + opening + b"\r\nHello")


def test_outlooks_mail_reads_as_any_other() -> None:
    sent = 133_511_688_000_000_000  # 2024-01-31 10:00 UTC, in 100 ns since 1601
    inner = {
        "__substg1.0_0037001F": "Older".encode("utf-16-le"),
        "__substg1.0_1000001F": "Older words.".encode("utf-16-le"),
        "__properties_version1.0": bytes(24),
    }
    data = make_compound_file(
        {
            "__properties_version1.0": bytes(32)
            + struct.pack("<HHIQ", 0x40, 0x39, 0, sent)
            + struct.pack("<HHIQ", 3, 0x3FFD, 0, 1251),
            "__substg1.0_0037001E": "Лампа".encode("cp1251"),
            "__substg1.0_0C1A001F": "Ann Lee".encode("utf-16-le"),
            "__substg1.0_5D01001F": "ann@example.com".encode("utf-16-le"),
            "__substg1.0_0E04001F": "Bob".encode("utf-16-le"),
            "__substg1.0_1000001F": "The lamp is green.".encode("utf-16-le"),
            "__attach_version1.0_#00000000": {
                "__substg1.0_3707001F": "größe.pdf".encode("utf-16-le"),
                "__substg1.0_37010102": b"%PDF-1.4" * 1000,
            },
            "__attach_version1.0_#00000001": {"__substg1.0_3701000D": inner},
        }
    )
    found = read_msg(data)
    assert found.text == (
        "Лампа\n\nFrom: Ann Lee <ann@example.com>\nTo: Bob\nDate: Wed, 31 Jan 2024 10:00:00 +0000\n\n"
        "The lamp is green."
    )
    assert [file.filename for file in found.attachments] == ["größe.pdf", "Older.eml"]
    assert found.attachments[0].data == b"%PDF-1.4" * 1000
    assert read_eml(found.attachments[1].data).text == "Older\n\nOlder words."


def test_outlooks_mail_of_rich_text_alone_says_what_is_missing() -> None:
    data = make_compound_file(
        {"__substg1.0_0037001F": "Lamp".encode("utf-16-le"), "__substg1.0_10090102": b"compressed"}
    )
    found = read_msg(data)
    assert (found.text, found.warnings) == ("Lamp", (ONLY_RICH_TEXT,))
    with pytest.raises(Unreadable, match="The mail is damaged"):
        read_msg(data[:700])
