"""The written replies of `natural_replies/replies.jsonl`: their form, and their text without markers."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).with_name("natural_replies")
REPLIES = FOLDER / "replies.jsonl"
DOCUMENTS = FOLDER / "documents"
SAMPLE = FOLDER.parent.parent / "samples" / "nikola-tesla.pdf"
MARKER = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
LIST_SIGN = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
Half = Literal["view", "unseen", "all"]


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of a block that a model names as the ground of a claim."""

    block: int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or an item of a reply, markers included.

    kind: of what is wrong with it; "" where nothing is. of: the number of the faithful claim in whose place
    it stands.
    """

    text: str
    markers: tuple[int, ...]
    quotes: tuple[Quote, ...]
    kind: str = ""
    of: int = -1


@dataclass(frozen=True, slots=True)
class Record:
    """A question, the blocks that its reply names, and the reply. blocks: text by number."""

    id: str
    lang: str
    form: str
    half: str
    question: str
    blocks: dict[int, str]
    reply: str
    answerable: bool
    claims: tuple[Claim, ...]
    variants: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says to a question: the text, and the same in parts; what cites nothing has no marker."""

    text: str
    parts: tuple[Claim, ...]


def load(path: Path = REPLIES, half: Half = "all") -> list[Record]:
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [_record(json.loads(line)) for line in lines if line.strip()]
    return [record for record in records if half in ("all", record.half)]


def documents() -> list[Path]:
    """What the questions are about."""
    return [*sorted(path for path in DOCUMENTS.rglob("*") if path.is_file()), SAMPLE]


def reply_of(record: Record, variant: Claim | None = None) -> Reply:
    """The right reply, or the same with the variant in place of the claim that it stands for."""
    parts, at = [], 0
    for number, claim in enumerate(record.claims):
        start = record.reply.index(claim.text, at)
        parts += [Claim(record.reply[at:start], (), ())] if record.reply[at:start].strip() else []
        parts.append(variant if variant is not None and variant.of == number else claim)
        at = start + len(claim.text)
    parts += [Claim(record.reply[at:], (), ())] if record.reply[at:].strip() else []
    text = record.reply
    if variant is not None:
        text = text.replace(record.claims[variant.of].text, variant.text, 1)
    return Reply(text, tuple(parts))


def numbers_in(text: str) -> list[int]:
    """The numbers of all markers, in their order."""
    return [int(number) for marker in MARKER.findall(text) for number in re.findall(r"\d+", marker)]


def without_markers(text: str) -> str:
    """As prose: no markers, no list sign, no space that a marker left before a full stop."""
    bare = re.sub(r"[ \t]*" + MARKER.pattern, "", text)
    return LIST_SIGN.sub("", " ".join(bare.split()))


def squeezed(text: str) -> str:
    """Letters and digits alone, in lower case: what two ways to set the same words have in common."""
    return re.sub(r"[\W_]+", "", text.lower())


def grams(text: str, size: int = 5) -> set[tuple[str, ...]]:
    """Runs of `size` words."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + size]) for start in range(max(1, len(words) - size + 1))}


def share_of(text: str, other: str) -> float:
    """Of the text's runs of words, how many stand in the other."""
    own = grams(text)
    return len(own & grams(other)) / len(own)


def _record(data: dict[str, Any]) -> Record:
    claims = tuple(_claim(claim) for claim in data["claims"])
    return Record(
        id=data["id"],
        lang=data["lang"],
        form=data["form"],
        half=data["half"],
        question=data["question"],
        blocks={block["n"]: block["text"] for block in data["blocks"]},
        reply=data["reply"],
        answerable=data["answerable"],
        claims=claims,
        variants=tuple(_claim(variant) for variant in data["variants"]),
    )


def _claim(data: dict[str, Any]) -> Claim:
    return Claim(
        text=data["text"],
        markers=tuple(data["markers"]),
        quotes=_quotes(data.get("quotes", [])),
        kind=data.get("kind", ""),
        of=data.get("of", -1),
    )


def _quotes(given: Iterable[dict[str, Any]]) -> tuple[Quote, ...]:
    return tuple(Quote(one["block"], one["quote"]) for one in given)


def words_in(records: Sequence[Record]) -> str:
    """How many there are, in a line."""
    claims = sum(len(record.claims) for record in records)
    variants = sum(len(record.variants) for record in records)
    return f"{len(records)} questions, {claims} faithful claims, {variants} variants"
