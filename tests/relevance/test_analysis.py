"""The analysis of a text as it is stored: the same sentences and words as the text's own, for any text."""

import hashlib
import random

import pytest

from documents.text.sentences import sentence_spans
from embeddings.lexical.sentences import VERSION, Analysis, describe_sentences
from embeddings.lexical.terms import hash_position, lexemes, term_weights

TEXTS = [
    ("", ""),
    ("...", "en"),
    ("The Norse  arrived\nin 911. They took Rouen, and Rouen burned!  Did they stay?\n\n# Many did", "en"),
    ("Dr. Weiß wohnt in Köln. Er zahlte 3.000,50 € für z. B. zwei Häuser – und schwieg.", "de"),
    ("東京は首都です。人口は多い。", "ja"),
    ("| a | 1 |\n| b | 2 |\n\nTerm\n: what it means\n\nL’été, l'été… Fin", "fr"),
    ("Materials: sycamore, beech, cast iron (crank, frame), brass\nMarks: initials on the lid", "en"),
    ("There are more than\n[300 lamps](https://a.example)\n\n| Lantern | It hangs. It burns oil. |", "en"),
    ("It began in 2003.[7] It grew, as is known.12 Others deny it.3", "en"),
]
PIECES = [
    "alpha",
    "Beta",
    "3.5",
    "don't",
    "z. B.",
    ".",
    "!",
    "?",
    "\n",
    "\n\n",
    " ",
    "東京",
    "é",
    "\x1f",
    "\u2028",
    "| ",
]


def random_texts() -> list[tuple[str, str]]:
    rng = random.Random(5)
    languages = ["", "en", "de", "ja", "xx"]
    return [("".join(rng.choices(PIECES, k=rng.randint(0, 40))), rng.choice(languages)) for _ in range(300)]


@pytest.mark.parametrize(("content", "language"), [*TEXTS, *random_texts()])
def test_the_stored_form_tells_all_that_the_text_does(content: str, language: str) -> None:
    analysis = Analysis(describe_sentences(content, language))
    spans = sentence_spans(content)
    words = [lexemes(content[start:end], language) for start, end in spans]

    assert list(analysis.spans) == [(s.start, s.end) for s in analysis.sentences] == spans
    assert [sentence.words for sentence in analysis.sentences] == list(map(frozenset, words))
    every = [word for own in words for word in own]
    assert analysis.words == set(every)
    weights = term_weights(every)
    for word in {*every, "absent", "rouen", "0"}:
        held = [place for place, own in enumerate(words) for one in own if one == word]
        assert list(analysis.occurrences(word)) == held
        assert list(analysis.places(word)) == sorted(set(held))
        if held:
            assert analysis.weight(len(held)) == weights[hash_position(word)]
    for initial in {word[0] for word in every}:
        assert set(analysis.words_with(initial)) == {word for word in every if word[0] == initial}


def test_a_change_of_the_analysis_raises_its_version() -> None:
    """What is stored was made by the rules of this version. If this fails, raise VERSION with it: then
    workers make all anew.
    """
    made = "\x00".join(describe_sentences(content, language) for content, language in TEXTS)
    assert (VERSION, hashlib.sha256(made.encode()).hexdigest()[:16]) == (7, "dc06a2e703ed9f40")
