"""The question in a message of several sentences, without what is said around it. Plain Python."""

import re
from collections.abc import Sequence

from documents.text.sentences import sentence_spans
from rag.conversation.carry_over import Turn, carry_over
from rag.conversation.parsing import END, in_all_languages, parse_question
from rag.question_forms import comparison_in

LOOKED_BACK = 5  # sentences before a question, for what it lacks
LEAST_NAMED = 2  # words that name something, in a question that needs nothing of what is said before it
_KINDS = (
    r"(?:anything|something|information|infos?|details|(?:documents?|files?|articles?|papers?|reports?|chapters?|sections?)"
    r"|(?:et)?was|informationen|dokumente?|dateien|quelque\s+chose|informations|documents?|algo|información|documentos?)"
)
_ABOUT = r"(?:about|on|regarding|concerning|over|über|zu[mr]?|sur|sobre)"
# What asks for a topic, before it.
_TOPIC = re.compile(
    r"\W*(?:(?:please|bitte|also|and|can|could|would|will|you)\s+)*(?:"
    r"tell\s+me\s+(?:more|something|everything|all)?\s*(?:(?:that\s+)?you\s+know\s+)?about"
    r"|what\s+(?:do\s+(?:you|we)\s+know|can\s+you\s+tell\s+me)\s+about"
    rf"|(?:do\s+(?:you|we)\s+have|(?:is|are)\s+there)\s+(?:an?\s+|any\s+|some\s+)?{_KINDS}\s+{_ABOUT}"
    r"|(?:which|what)\s+(?:documents?|files?|articles?|papers?|reports?)\s+"
    r"(?:mentions?|discuss(?:es)?|covers?|describes?|(?:talks?|speaks?|is|are)\s+about|deals?\s+with)"
    r"|what\s+(?:do|does)\s+(?:the|this|these|my|our|your)\s+[^\W\d_]+\s+say\s+about"
    rf"|where\s+(?:can|do|could)\s+(?:I|we)\s+(?:read|learn|find\s+{_KINDS})\s+(?:more\s+)?{_ABOUT}"
    rf"|(?:(?:I['’]?m|I\s+am|we['’]?re|we\s+are)\s+looking\s+for|I\s+need|(?:show|give|find|get)\s+me)"
    rf"\s+(?:any\s+|some\s+|all\s+)?(?:the\s+)?{_KINDS}\s+{_ABOUT}"
    r"|erzähl(?:e|en\s+Sie)?\s+mir\s+(?:mehr\s+|etwas\s+)?(?:über|von)"
    r"|was\s+(?:weißt\s+du|wissen\s+Sie|wissen\s+wir)\s+(?:über|von)"
    rf"|(?:gibt\s+es|hast\s+du|haben\s+(?:wir|Sie))\s+(?:ein\s+)?{_KINDS}\s+{_ABOUT}"
    r"|was\s+steht\s+in\s+(?:den|meinen|unseren)\s+\w+\s+(?:über|zum?r?)"
    r"|welche\s+(?:dokumente|dateien)\s+(?:erwähnen|behandeln|handeln\s+von)"
    r"|(?:parle|parlez)-moi\s+d(?:e\s+la|es|e|u)|que\s+sa(?:is-tu|vez-vous)\s+(?:sur|de)"
    r"|h[aá]bl(?:a|e|ame|eme)\s+(?:de|sobre)|qu[eé]\s+sabes?\s+(?:de|sobre)"
    r")\s+(?=\S)",
    re.IGNORECASE,
)
_MARKS = ("?", "？", "؟")
_CLOSING = "\"'”’»)]"


def questions_in(message: str) -> tuple[str, ...]:
    """Return what a message asks, in the ways to try one after another; () where it is just a question.

    Left out are who asks and why, and how to answer; what a question lacks is taken from what is said before
    it. "I read that Tesla worked for Edison. Why did he leave? Please be brief." asks "Why did Tesla leave?"
    What is said of the matter behind a question is tried with it first, and a topic before what asks for it.
    """
    whole = [message[start:end] for start, end in sentence_spans(message)]
    ways = _without_asides(whole) if len(whole) > 1 else [message]
    topic = _topic_of(ways[-1])
    tried = tuple(filter(None, (topic, *ways)))
    return () if tried in ((message,), (" ".join(whole),)) else tried


def _without_asides(sentences: Sequence[str]) -> list[str]:
    """Return what is asked with what is said of the matter behind it, and without."""
    told = [sentence for sentence in sentences if not _is_aside(sentence)]
    asked = [sentence for sentence in told if _asks(sentence)] or told
    questions, before = list[str](), list[Turn]()
    for sentence in told:
        alone = _without_joint(carry_over(sentence, before)) if before and _asks(sentence) else sentence
        before = [Turn(alone), *before[: LOOKED_BACK - 1]]
        if sentence in asked:
            questions.append(alone)
    question = " ".join(questions)
    if len(parse_question(question).content) < LEAST_NAMED:
        question = " ".join(told)
    behind = told[told.index(asked[0]) + 1 :] if len(asked) == 1 else []
    of_matter = [sentence for sentence in behind if not _is_of_speakers(sentence)]
    return list(dict.fromkeys((" ".join([question, *of_matter]), question)))


def _topic_of(question: str) -> str:
    """Return "Kenya" of "Tell me about Kenya."; "" where no topic is asked for, or two."""
    frame = None if comparison_in(question) else _TOPIC.match(question)
    return question[frame.end() :].rstrip(END) if frame else ""


def _asks(sentence: str) -> bool:
    return sentence.rstrip(_CLOSING).endswith(_MARKS)


def _without_joint(question: str) -> str:
    """Return "Who owns it?" of "And who owns it?"."""
    parsed = parse_question(question)
    if len(parsed.words) < LEAST_NAMED or parsed.words[0].plain not in parsed.small.connectors:
        return question
    alone = question[parsed.words[1].start :]
    return alone[:1].upper() + alone[1:]


def _is_of_speakers(sentence: str) -> bool:
    parsed = parse_question(sentence)
    return any(re.split("['’]", word.plain)[0] in parsed.small.speakers for word in parsed.words)


def _is_aside(sentence: str) -> bool:
    """Tell whether a sentence says how to answer, greets or thanks: in whatever language."""
    words = [word.plain for word in parse_question(sentence).words]
    while words and words[0] in in_all_languages("polite"):
        del words[0]
    said = " ".join(words)
    if _asks(sentence):
        return said in in_all_languages("asides")
    return not said or any(f"{said} ".startswith(f"{one} ") for one in in_all_languages("instructions"))
