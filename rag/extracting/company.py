"""What is said with a sentence that cannot be understood alone: what its colon promises, what names its
subject, its heading, its document of a certain year.

Plain Python.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from rag.extracting.sentence_form import asked_words, expected_kinds, kind_asked
from rag.extracting.units import AnswerCandidate
from rag.ranking.sentences import words_of
from rag.types.retrieval import Passage

COLONS = (":", "：")
LEAST_WORDS = 4  # of a sentence that ends with a colon
PROMISED = 12  # sentences after it are looked at for what a colon promises
_BE = r"(?:['’]s|\s(?:is|was|has\sbeen|may\sbe|can\sbe|could\sbe|should\sbe|will\sbe|remains|seems|appears))"
_IMPERSONAL = (
    r"(?:advisable|agreed|announced|assumed|believed|best|better|clear|common|decided|difficult|easy|estimated"
    r"|expected|fine|good|hard|helpful|important|impossible|known|likely|necessary|normal|ok(?:ay)?|possible"
    r"|proposed|recommended|safe|said|suggested|thought|true|unclear|unlikely|useful|usual|worth)"
)
# What a sentence begins with that another one before it is about; not "It was decided that", "This year".
_PRONOUN = re.compile(
    r"(?:(?:(?:in|on|at|since|by|during)\s(?:[^,.;:]|\.\d){1,40},"
    r"|(?:also|currently|however|instead|otherwise|then|usually),|and|but|so)\s)?"
    rf"(?:it(?!{_BE}\s(?:\w+ly\s)?{_IMPERSONAL}\b)"
    r"|he|she|they|his|her|its|their|er|sie|dies|él|ella|ellos|ellas|est[aeo]s?"
    r"|th(?:is|ese)(?=\s(?:is|are|was|were|has|have|had|can|could|may|might|must|will|would|shall|should|does|do"
    r"|did|means?|meant|includes?|included|allows?|makes?|made|gives?|takes?|applies|apply|also|only|then|too)\b))\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"th(?:is|ese)\s", re.IGNORECASE)
_TERMED = re.compile(r"[-*+•] [^:]{1,120}: \S")  # an item that begins with its term
_LISTED = re.compile(r"(?:[-*+•‣▪●◦○■□►–—]|\(?(?:\d{1,2}|[a-z])[.)])\s")

_STEP = re.compile(r"\(?\d{1,2}[.)]\s")
_SUFFIX = re.compile(r"\.[a-zA-Z]{2,5}\Z")  # of a file's name
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def completing(one: AnswerCandidate, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return what a sentence that ends with a colon promises: the items of a list, the next sentence, or one
    line of code. A program says nothing on one line.
    """
    if not one.text.endswith(COLONS) or one.length < LEAST_WORDS:
        return []
    after = [other for other in candidates if other.number == one.number and other.place > one.place]
    told = [other for other in after[:PROMISED] if other.worded]
    items = list(takewhile(lambda other: begins_item(other.text), told))
    if items or not told:
        return items
    lines = sum(other.code for other in takewhile(lambda other: other.code, told))
    return told[:1] if lines == 1 or (not lines and told[0].unit.complete) else []


def steps_of(
    question: str, one: AnswerCandidate, candidates: Sequence[AnswerCandidate], language: str
) -> list[AnswerCandidate]:
    """Return the other steps of a numbered list if the question is how one does it, not which button."""
    asks_how = "way" in expected_kinds(question) and not kind_asked(question, language)
    if not asks_how or not _STEP.match(one.text):
        return []
    own = [other for other in candidates if other.number == one.number and other.worded]
    before = takewhile(_is_step, reversed([other for other in own if other.place < one.place]))
    after = takewhile(_is_step, [other for other in own if other.place > one.place])
    return [*before, *after]


def _is_step(one: AnswerCandidate) -> bool:
    return one.item < one.place or _STEP.match(one.text) is not None


def begins_item(text: str, start: int = 0) -> bool:
    """Tell whether the sign or the number of a list's item stands there."""
    return _LISTED.match(text, start) is not None


def leading(one: AnswerCandidate, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return the sentence before one whose subject is a pronoun, if that tells what the pronoun means; or the
    one that begins its item of a list with the term that all of the item is about.
    """
    if one.item < one.place:
        begins = [other for other in candidates if (other.number, other.place) == (one.number, one.item)]
        if begins and _TERMED.match(begins[0].text):
            return begins
    if not _PRONOUN.match(one.text):
        return []
    before = [other for other in candidates if (other.number, other.place) == (one.number, one.place - 1)]
    return [
        other for other in before if other.unit.complete and other.worded and not (other.naming or other.code)
    ]


def heading(question: str, one: AnswerCandidate, language: str) -> list[AnswerCandidate]:
    """Return the heading above a line, if that tells something of the question: "Pension" above "Grade 13:
    8 %"; and the one above "This role ...", which may name it. Other sentences mostly tell by themselves what
    they are about.
    """
    if one.unit.complete and _THIS.match(one.text) and not _PRONOUN.match(one.text):
        return [titled(one, one.heading)] if one.heading else []
    return [titled(one, one.heading)] if not one.unit.complete and is_headed(question, one, language) else []


def is_headed(question: str, one: AnswerCandidate, language: str) -> bool:
    """Tell whether the heading above has words of the question that the sentence lacks. language: of both."""
    above = words_of(one.heading, language) & asked_words(question, language)
    return not one.is_row and not above <= one.asked


def document_of_year(
    question: str, one: AnswerCandidate, said: Sequence[AnswerCandidate], passage: Passage
) -> list[AnswerCandidate]:
    """Return what the document is called, if that tells a year of the question, and nothing that is said
    does: reports say "in July" and "a tenth more".
    """
    asked, told = _YEAR.findall(question), _YEAR.findall(" ".join(each.text for each in said))
    if not asked or not set(asked).isdisjoint(told):
        return []
    names = [name for name in (passage.title, passage.document_name) if set(asked) & set(_YEAR.findall(name))]
    return [titled(one, _SUFFIX.sub("", name).replace("_", " ")) for name in names[:1]]


def titled(one: AnswerCandidate, title: str) -> AnswerCandidate:
    """Return a title that stands before what is said of the block of a sentence."""
    return one._replace(text=title, place=-1, naming=True, is_row=False, length=title.count(" ") + 1)
