"""Words of a question that name something together: "consistent hashing". Plain Python."""

from rag.standalone.reading import Read, Word
from rag.standalone.vocabulary import PARTICIPLES, VERBS

_DEFINING = frozenset(["what", "who", "is", "are", "was", "were"])
_BE = frozenset(["is", "are", "was", "were"])
_DO = frozenset(("do", "does", "did"))
_SUBJECTS = frozenset(["i", "you", "we", "he", "she", "they", "it"])
_FORMS = ("ed", "ing")


def runs_of(question: Read) -> list[list[int]]:
    """Places of words that name something and stand side by side, verbs at their ends left out."""
    runs: list[list[int]] = []
    for place, word in enumerate(question.words):
        if not question.is_content(word) or word.plain in question.vocabulary.light:
            continue
        if question.language == "en" and word.plain in VERBS and place and not question.is_name(place):
            continue
        adjoins = runs and runs[-1][-1] == place - 1
        if adjoins and question.text[question.words[place - 1].end : word.start].strip(" -") == "":
            runs[-1].append(place)
        else:
            runs.append([place])
    return [bared for run in runs if (bared := _without_verb(question, run, runs))]


def _without_verb(question: Read, run: list[int], runs: list[list[int]]) -> list[int]:
    """English alone: "does green tea steep" is about green tea, "is bread baked" about bread."""
    if question.language != "en":
        return run
    words = question.words
    last, before = words[run[-1]], words[run[0] - 1].plain if run[0] else ""
    if last.plain in PARTICIPLES and run[0] and not question.is_name(run[-1]):
        run = run[:-1]
    elif (
        len(run) > 1
        and not goes_before_verb(question, run)
        and _is_verb(words, run)
        and not last.text[:1].isupper()
    ):
        return run[:-1]
    elif len(run) == 1 and last.text.islower() and _is_left_over(question, run, before, runs):
        return []
    if len(run) > 1 and words[run[0]].text.islower() and before == "who":
        return run[1:]  # who wrote Hamlet
    return run


def _is_left_over(question: Read, run: list[int], before: str, runs: list[list[int]]) -> bool:
    """A verb or an adjective alone: "who pays", "do I update", "which pigments are involved"."""
    word = question.words[run[0]].plain
    if (
        before in _SUBJECTS
        or (before == "who" and len(runs) > 1)
        or (before == "what" and word.endswith("ed"))
    ):
        return True
    if before not in _BE:
        return False
    return word.endswith("ed") or word in PARTICIPLES or (word.endswith("ing") and run is not runs[0])


def goes_before_verb(question: Read, run: list[int]) -> bool:
    return run[-1] + 1 < len(question.words) and question.words[run[-1] + 1].text in VERBS


def _is_verb(words: tuple[Word, ...], run: list[int]) -> bool:
    before = [word.plain for word in words[: run[0]]]
    if any(word in _DO for word in before[-2:]):
        return True
    defines = set(before) <= _DEFINING | {"the", "a", "an"}
    return words[run[-1]].plain.endswith(_FORMS) and not defines


def is_after_do(question: Read, run: list[int]) -> bool:
    """ "does the board", with a verb behind it: its subject."""
    words = question.words
    place = run[0] - 1
    if place > 0 and words[place].plain in question.vocabulary.determiners:
        place -= 1
    return question.language == "en" and place >= 0 and words[place].plain in _DO


def names_together(question: Read, places: list[int]) -> list[list[int]]:
    """Names side by side, with the numbers that belong to them: "COVID-19"."""
    groups: list[list[int]] = []
    for place in places:
        if groups and groups[-1][-1] == place - 1:
            groups[-1].append(place)
        else:
            groups.append([place])
        after = place + 1
        if after < len(question.words) and question.words[after].text.isdigit():
            between = question.text[question.words[place].end : question.words[after].start]
            if between in (" ", "-"):
                groups[-1].append(after)
    return groups
