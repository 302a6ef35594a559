"""What a question is about, as a phrase of it. Plain Python."""

from rag.standalone.reading import Read, Word
from rag.standalone.vocabulary import DETERMINERS

_DEFINING = frozenset(["what", "who", "is", "are", "was", "were"])
_OF = frozenset(
    ["of", "de", "du", "des", "di", "da", "do", "von", "van", "der", "del", "della", "la", "le", "el"]
)
_PERSONS = frozenset(["he", "she", "him", "her", "his", "hers"])
_FORMS = ("ed", "ing")
_DO = frozenset(("do", "does", "did"))


def topic(question: Read) -> str:
    """The phrase that a pronoun of the next question most likely stands for; "" if there is none.

    A name before all others, then what stands behind an auxiliary or an article, then whatever comes first.
    """
    runs = _runs(question)
    placed = [run for run in runs if run[0] and _introduces(question, question.words[run[0] - 1])]
    chosen = _names(question, runs) or placed or runs
    return _phrase(question, _joined(question, chosen[0], runs)) if chosen else ""


def person(question: Read, quote: Read, pronoun: str) -> str:
    """Whom "he" or "she" stands for: a name of the answer that the question does not hold; else ""."""
    if pronoun not in _PERSONS:
        return ""
    asked = {word.plain for word in question.words}
    for run in _runs(quote):
        names = [place for place in run if quote.words[place].text[:1].isupper()]
        if len(names) > 1 and not asked & {quote.words[place].plain for place in names}:
            return quote.text[quote.words[names[0]].start : quote.words[names[-1]].end]
    return ""


def name_runs(question: Read) -> list[tuple[int, int]]:
    """Start and end of each run of names."""
    runs = _names(question, _runs(question))
    return [(question.words[run[0]].start, question.words[run[-1]].end) for run in runs]


def _introduces(question: Read, word: Word) -> bool:
    return word.plain in DETERMINERS or word.plain in question.vocabulary.auxiliaries


def _names(question: Read, runs: list[list[int]]) -> list[list[int]]:
    """Of each run that holds names, what reaches from the first, or from an article, to the last of them."""
    found = []
    for run in runs:
        names = [place for place in run if place and question.is_name(place)]
        articled = run[0] and question.words[run[0] - 1].plain in DETERMINERS
        if names:
            found.append(list(range(run[0] if articled else names[0], names[-1] + 1)))
    return found


def _runs(question: Read) -> list[list[int]]:
    """Places of words that name something and stand side by side, verbs at their ends left out."""
    runs: list[list[int]] = []
    for place, word in enumerate(question.words):
        if not question.is_content(word) or word.plain in question.vocabulary.light:
            continue
        adjoins = runs and runs[-1][-1] == place - 1
        if adjoins and question.text[question.words[place - 1].end : word.start].strip(" -") == "":
            runs[-1].append(place)
        else:
            runs.append([place])
    return [bare for run in runs if (bare := _without_verb(question, run))]


def _without_verb(question: Read, run: list[int]) -> list[int]:
    """English alone: "does green tea steep" is about green tea, "is bread baked" about bread."""
    if question.language != "en":
        return run
    words = question.words
    if len(run) > 1 and _is_verb(words, run) and not words[run[-1]].text[:1].isupper():
        return run[:-1]
    if len(run) > 1 and words[run[0]].text.islower() and words[run[0] - 1].plain == "who":
        return run[1:]  # who wrote Hamlet
    return run


def _is_verb(words: tuple[Word, ...], run: list[int]) -> bool:
    before = [word.plain for word in words[: run[0]]]
    if any(word in _DO for word in before[-2:]):
        return True
    defines = set(before) <= _DEFINING | DETERMINERS
    return words[run[-1]].plain.endswith(_FORMS) and not defines


def _joined(question: Read, run: list[int], runs: list[list[int]]) -> list[int]:
    """With what "of" joins to it: "the belfry of Ghent"."""
    words, first, last = question.words, run[0], run[-1]
    if last + 1 < len(words) and words[last + 1].plain in _OF:
        last = next((other[-1] for other in runs if last + 1 < other[0] <= last + 3), last)
    if first > 1 and words[first - 1].plain in _OF:
        first = next((other[0] for other in runs if other[-1] == first - 2), first)
    return list(range(first, last + 1))


def _phrase(question: Read, run: list[int]) -> str:
    """With its article, which reads better."""
    start = run[0]
    if start and question.words[start - 1].plain in ("the", "der", "die", "das", "le", "la", "el"):
        start -= 1
    return question.text[question.words[start].start : question.words[run[-1]].end]
