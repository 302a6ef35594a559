"""What stands before a claim and only names its source: "According to Source 1, ", "[1]: ". Plain Python."""

import re
from collections.abc import Callable
from typing import NamedTuple

from rag.citations.markers import NAMED, SOURCE, SQUARES, numbers_in, words_in

SAYS = words_in(
    """says states mentions notes explains reports indicates describes shows claims reveals confirms
    highlights suggests tells also clearly explicitly"""
)
_SAY = rf"(?:{'|'.join(sorted(SAYS))})"
_REF = rf"(?:(?:{SOURCE}s?[ ])?{SQUARES}|{NAMED})"
_BY = (
    r"(?:according[ ]to|based[ ]on|as[ ](?:stated|mentioned|described|noted|shown|explained|reported"
    r"|indicated|said)[ ](?:in|by)|as[ ]per|per|from|in|laut|gemäß|selon|d['’]après|según)[ ]+(?:the[ ])?"
    r"(?:information[ ](?:in|from)[ ](?:the[ ])?)?"
)
_LEAD = re.compile(
    rf"""
    (?P<bullet>\s*(?:(?:[-*+•–—]|\d{{1,3}}[.)])\s+)?)\*{{0,2}}
    (?: (?P<by>{_BY}){_REF}\*{{0,2}}[ ]{{0,2}}[,:，：]\s*
      | (?:the[ ])?{_REF}[ ]{{1,2}}(?P<says>(?:{_SAY}(?:[ ]us)?[ ]{{1,2}}){{1,2}})(?:that[ ])?
      | {_REF}\*{{0,2}}[ ]{{0,2}}[:：][*]{{0,2}}[ \t]*
      | {SQUARES}\*{{0,2}}(?:\([^()\s]{{1,500}}\))?\s+(?=\S)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(NAMED, re.IGNORECASE)


class Lead(NamedTuple):
    """rest: the sentence without it, begun with a capital letter. numbers: of the blocks that it names."""

    rest: str
    numbers: tuple[int, ...]


def lead_of(sentence: str, blocks: int, written: Callable[[str], bool]) -> Lead | None:
    """None where there is none, or where a passage writes its words, as in "Document 2 says that"."""
    found = _LEAD.match(sentence)
    if not found:
        return None
    named = _NAME.search(found[0])
    if named and "[" not in found[0] and written(named[0]):
        return None
    rest = sentence[found.end() :].lstrip()
    if found["by"] or found["says"]:
        rest = rest[:1].upper() + rest[1:]
    return Lead(found["bullet"] + rest, numbers_in(found[0][len(found["bullet"]) :], blocks))
