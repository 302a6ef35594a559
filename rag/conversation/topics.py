"""What a question is about, as a phrase of it. Plain Python."""

import re

from rag.conversation.reading import Read, Word, follow_up, read
from rag.conversation.vocabulary import PARTICIPLES, VERBS

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


_OF = frozenset(["of", "de", "du", "des", "di", "da", "von", "van", "der", "del", "della", "la", "le", "el"])
_PERSONS = frozenset(["he", "she", "him", "her", "his", "hers"])
_BETWEEN = frozenset(["difference", "differences", "relation", "relationship"])
_BRACKETS = re.compile(r"\(([^()]+)\)\W*$")
_POSSESSIVE = re.compile(r"['’]s?$")


def topic(question: Read) -> str:
    """The phrase that a pronoun of the next question most likely stands for; "" if there is none.

    What was carried over in brackets goes on. Else a name before all others, then what stands behind "does",
    an article or an auxiliary, then whatever comes first.
    """
    carried = in_brackets(question)
    if carried:
        inner = read(carried, like=question.text)
        asks = inner.words and inner.words[0].plain in inner.vocabulary.asking | inner.vocabulary.auxiliaries
        return topic(inner) if asks else carried
    runs = runs_of(question)
    words, known = question.words, question.vocabulary
    asked = [run for run in runs if is_after_do(question, run)]
    articled = [run for run in runs if run[0] and words[run[0] - 1].plain in known.determiners]
    placed = [run for run in runs if run[0] and words[run[0] - 1].plain in known.auxiliaries]
    defined = placed if placed and placed[0][0] == 2 and _defines(question) else []
    chosen = defined or _names(question, runs) or asked or articled or placed or runs
    return _phrase(question, _joined(question, chosen[0], runs)) if chosen else ""


def in_brackets(question: Read) -> str:
    """What a follow-up was completed with: "How long (the notice period)?"; else "".

    A question that needs no completing has brackets of its own: "How is TLS (1.3) configured?"
    """
    found = _BRACKETS.search(question.text)
    if not found:
        return ""
    before = read(question.text[: found.start()], like=question.text)
    return found[1] if not before.words or follow_up(before) else ""


def owner(phrase: str) -> str:
    """ "Kenya" of "Kenya's capital"; else ""."""
    owning, _, owned = phrase.replace("’", "'").partition("'s ")
    return owning if owned else ""


def bare(name: str) -> str:
    """Without a possessive ending."""
    return _POSSESSIVE.sub("", name)


def person(question: Read, quote: Read, pronoun: str) -> str:
    """Whom "he" or "she" stands for: a name of the answer that the question does not hold; else ""."""
    if pronoun not in _PERSONS:
        return ""
    asked = {word.plain for word in question.words}
    for run in runs_of(quote):
        names = [place for place in run if quote.words[place].text[:1].isupper()]
        if len(names) > 1 and not asked & {quote.words[place].plain for place in names}:
            return bare(quote.text[quote.words[names[0]].start : quote.words[names[-1]].end])
    return ""


def name_runs(question: Read) -> list[tuple[int, int]]:
    """Start and end of each run of names, without a possessive ending."""
    found = []
    for run in runs_of(question):
        for names in names_together(question, [place for place in run if place and question.is_name(place)]):
            text = question.words[names[-1]].text
            end = question.words[names[-1]].end - (len(text) - len(bare(text)))
            found.append((question.words[names[0]].start, end))
    return found


def runs_alike(question: Read, core: str, article: str) -> list[tuple[int, int]]:
    """Start and end of runs that a new topic could stand in for: with the same article, or behind a
    preposition, and as many of it.

    core: the new topic without its article.
    """
    many, found = core.endswith("s"), []
    for run in runs_of(question):
        first, last = question.words[run[0]], question.words[run[-1]]
        before = question.words[run[0] - 1].plain if run[0] else ""
        own = before if before in question.vocabulary.determiners else ""
        placed = article or before in question.vocabulary.prepositions
        if (
            placed
            and not last.text.isdigit()
            and own == article
            and last.plain.endswith("s") == many
            and not last.text[:1].isupper()
        ):
            found.append((first.start, last.end))
    return found


def _defines(question: Read) -> bool:
    """ "What is ownership in Rust?" """
    first, second = question.words[0].plain, question.words[1].plain
    return question.language == "en" and first == "what" and second in _BE


def _names(question: Read, runs: list[list[int]]) -> list[list[int]]:
    """Of each run that holds names, what reaches from the first, or from an article, to the last of them.

    In English to the run's end where that belongs to the name: "the Amazon rainforest", "ABC's station".
    """
    found, words, known = [], question.words, question.vocabulary
    begins = words[0].plain if words else ""
    for run in runs:
        groups = names_together(question, [place for place in run if place and question.is_name(place)])
        if not groups:
            continue
        before = words[run[0] - 1].plain if run[0] else ""
        articled = before in known.determiners
        first, last = run[0] if articled else groups[0][0], groups[0][-1]
        does = is_after_do(question, run) and not goes_before_verb(question, run)
        owns = words[last].text != bare(words[last].text)
        leads = articled or before in known.prepositions or before in ("about", "of")
        if question.language != "en":
            last = max(last, groups[-1][-1])
        elif owns or (leads and not does and begins not in known.auxiliaries):
            last = max(run[-1], last)
        found.append(list(range(first, last + 1)))
    return found


def _joined(question: Read, run: list[int], runs: list[list[int]]) -> list[int]:
    """With what "of" joins to it: "the belfry of Ghent"; and names with the next one: "TCP and UDP"."""
    words, first, last = question.words, run[0], run[-1]
    after = words[last + 1].plain if last + 1 < len(words) else ""
    if after in _OF:
        last = next((other[-1] for other in runs if last + 1 < other[0] <= last + 3), last)
    elif after == "and" and question.is_name(last):
        last = next((n for n in (last + 2,) if n < len(words) and question.is_name(n)), last)
    before = first - 1
    if before > 0 and words[before].plain in question.vocabulary.determiners:
        before -= 1
    if before > 0 and words[before].plain in _OF:
        first = next((other[0] for other in runs if other[-1] == before - 1), first)
    return list(range(first, last + 1))


def _phrase(question: Read, run: list[int]) -> str:
    """With its article, which reads better; a difference with what it is between."""
    start = run[0]
    if question.words[run[-1]].plain in _BETWEEN:
        run = list(range(start, len(question.words)))
    if start and question.words[start - 1].plain in ("the", "der", "die", "das", "le", "la", "el"):
        start -= 1
    return bare(question.text[question.words[start].start : question.words[run[-1]].end])
