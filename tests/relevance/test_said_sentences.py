"""What an extractive answer is made of: definitions first, promises kept, no code and no fragments."""

import asyncio

import pytest

from rag.citations.checker import Checker
from rag.context.fitting import context_of
from rag.extracting.selection import options_of
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.retrieval import Passage
from tests.relevance.asking import answer, ask_of, judged, passage
from tests.relevance.test_extracting import context

QUAY = (
    "There are several ways to build a quay, so we show a common one. Let us make a quay of larch. "
    "A _quay_ is a paved bank where ships lie. A good quay (of stone) is expensive."
)
SCRIPT = (
    "# Updating\n\nTo update the Mirow tool, run the following command:\n\n```\nmirow update --all\n```\n\n"
    "The Mirow tool tells its version when asked."
)
PROGRAM = (
    "The Mirow tool can be called from a program, which looks like this:\n\n"
    "```\n//! Mirow tool\nfn main() {\n    mirow::tool();\n}\n```\n\n"
    "A program that calls the Mirow tool needs a licence."
)
RULES = (
    "A race on the Mirow canal is void when one of these things happens:\n\n"
    "- Two boats touch.\n- The pilot falls into the canal.\n- It thunders.\n\nThe canal is 9 km long."
)

SETTINGS = """### quay_port

Which port the quay listens on. On some quays a default port lets several boats listen on the same quay.

Default: 6432

### quay_backlog

How many boats may wait.

Default: 128
"""
INDENTED = "\n".join("    " + line.removeprefix("### ") for line in SETTINGS.splitlines())


def first(question: str, text: str) -> str:
    return options_of(question, context(question, text))[0].candidate.text


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("What is a quay?", QUAY, "A _quay_ is a paved bank"),
        ("What does quay mean?", QUAY, "A _quay_ is a paved bank"),
        (
            "What is creating a wall of ropes called?",
            "Creating a wall of ropes is hard. For a wall of ropes one asks the creating guild. "
            "Creating a wall from ropes is called _roping_, and the wall stands.",
            "_roping_",
        ),
    ],
)
def test_what_says_what_something_is_goes_first(question: str, text: str, told: str) -> None:
    assert told in first(question, text)


def test_what_begins_with_the_words_of_another_question_defines_nothing() -> None:
    text = "The quay of Mirow is closed. The harbour master opens the quay of Mirow at six."
    assert "six" in answer("When does the harbour master open the quay?", text)


def test_a_command_is_said_with_the_sentence_that_promises_it() -> None:
    said = answer("How do I update the Mirow tool?", SCRIPT)
    assert said.startswith("To update the Mirow tool, run the following command: [1]")
    assert "mirow update --all [1]" in said


def test_code_without_a_sentence_is_no_answer() -> None:
    said = answer("Can the Mirow tool be called from a program?", PROGRAM)
    assert "licence" in said
    for code in ("//!", "fn main", "```", "mirow::"):
        assert code not in said


def test_the_list_that_a_colon_promises_is_said_with_it() -> None:
    said = answer("When is a race on the Mirow canal void?", RULES)
    assert said.index("these things happens: [1]") < said.index("Two boats touch [1].")
    assert said.endswith("The pilot falls into the canal [1]. It thunders [1].")


def test_a_pronoun_comes_with_what_it_means() -> None:
    text = "Mirow has a canal. The Lieps was dug by monks. It is 9 km long and frozen in winter. Fog is rare."
    said = answer("How long is it when frozen in winter?", text)
    assert said == "The Lieps was dug by monks [1]. It is 9 km long and frozen in winter [1]."


def test_a_table_of_contents_answers_nothing() -> None:
    text = (
        "2.1 The frozen Lieps in winter . . . . . . . . 17\n2.2 Fishing on the Lieps ............ 21\n\n"
        "On the Lieps people fish through holes, as the lake is frozen."
    )
    assert "holes" in answer("What about the frozen Lieps in winter?", text)


def test_a_sentence_that_ends_with_a_colon_is_not_said_beside_another_without_what_it_promises() -> None:
    text = (
        "The Mirow ferry sank twice, in 1905 and in 1906. On the Mirow ferry there were, when it sank:\n\n"
        "| cows | 3 |\n| --- | --- |\n| goats | 5 |"
    )
    assert "there were" not in answer("When did the Mirow ferry sink?", text)


def test_a_text_that_goes_on_from_another_chunk_answers_last() -> None:
    torn = "salt of the Mirow mine was found in 1911 by Countess Adela.\n\n"
    whole = "The salt of the Mirow mine was found in 1911 by a shepherd."
    assert first("When was the salt of the Mirow mine found?", torn + whole) == whole


def test_a_single_fence_in_a_text_makes_no_code_of_what_follows() -> None:
    text = "```\n\nThe Mirow bridge was opened in 1907. The Mirow bridge is closed to lorries."
    assert "1907" in answer("When was the Mirow bridge opened?", text)


OPTIONS = (
    "Mirow packs files. Mirow keeps the date of each file, and of the original, when it packs a file.\n\n"
    "- -k, --keep: Keep the original file. It is not removed when a file is packed. Links are followed, too."
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How do I keep the original file?", "-k, --keep"),
        ("What option is there to keep the original file?", "-k, --keep"),
        ("When does Mirow keep the date of the original?", "Mirow keeps the date"),
    ],
)
def test_who_asks_how_is_told_what_to_type(question: str, told: str) -> None:
    assert told in first(question, OPTIONS)


def test_what_an_item_says_further_on_comes_with_its_term() -> None:
    said = answer("Are links followed?", OPTIONS)
    assert said == "-k, --keep: Keep the original file [1]. Links are followed, too [1]."


def test_a_command_right_below_its_sentence_is_a_sentence_of_its_own() -> None:
    text = "If you have Mirow from Homebrew, update it using:\n```sh\nbrew upgrade mirow\n```\nThen rest."
    said = answer("How do I update Mirow with Homebrew?", text)
    assert said.startswith("If you have Mirow from Homebrew, update it using: [1]\n\nbrew upgrade mirow [1]")


@pytest.mark.parametrize("text", [SETTINGS, INDENTED])
def test_a_field_below_the_heading_that_is_asked_for_is_among_the_likeliest(text: str) -> None:
    question = "What is the default of the quay port?"
    likeliest = [option.candidate for option in options_of(question, context(question, text))[:4]]
    assert [one.text for one in likeliest if one.traits.row] == ["Default: 6432"]


@pytest.mark.parametrize("begun", ["This year", "These days", "It was decided that", "It’s usually best if"])
def test_what_begins_with_no_pronoun_comes_alone(begun: str) -> None:
    text = f"Fog is rare in Mirow. {begun} the frozen Lieps is open to skaters."
    assert answer("Is the frozen Lieps open to skaters?", text) == (
        f"{begun} the frozen Lieps is open to skaters [1]."
    )


@pytest.mark.parametrize("begun", ["In winter 2.0, it", "However, it", "And it"])
def test_it_behind_a_few_words_comes_with_what_it_is(begun: str) -> None:
    text = f"The ferry carries few skaters. {begun} crosses the frozen Lieps with three of them."
    assert answer("How many cross the frozen Lieps?", text).startswith("The ferry carries few skaters [1]. ")


def test_what_somebody_did_with_it_comes_with_what_it_is() -> None:
    text = "Mirow has a new ferry. It was built by Adela Brandt for the skaters of the Lieps."
    said = answer("Who built it for the skaters of the Lieps?", text)
    assert said == "Mirow has a new ferry [1]. It was built by Adela Brandt for the skaters of the Lieps [1]."


def test_who_asks_how_gets_all_steps_and_who_asks_which_the_one() -> None:
    steps = (
        "## Lighting the lamp\n\n1. Open the lamp.\n2. Light the lamp by the red button.\n3. Close it again."
    )
    assert answer("How do I light the lamp?", steps) == (
        "1. Open the lamp [1]. 2. Light the lamp by the red button [1]. 3. Close it again [1]."
    )
    assert "Close it" not in answer("Which button lights the lamp?", steps)


def test_a_line_comes_with_the_heading_that_tells_what_it_is_of() -> None:
    text = "## Pay of the pilots\n\nFirst year: 40 thalers\n\n## Sails\n\nLinen from Mirow lasts for years."
    assert answer("What pay do pilots get in the first year?", text) == (
        "Pay of the pilots:\n\nFirst year: 40 thalers [1]"
    )
    assert answer("What does the first year bring?", text).startswith("First year: 40 thalers [1]")


def test_this_one_comes_with_the_heading_that_names_it() -> None:
    text = "## **Ferry pilot**\n\nThis role is for those who know the Lieps. Linen lasts for years."
    assert answer("Which role is for those who know the Lieps?", text) == (
        "Ferry pilot:\n\nThis role is for those who know the Lieps [1]."
    )


def said_of(question: str, one: Passage) -> str:
    shown = context_of(judged(question, [one]).passages)
    return asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown)).text


def test_a_line_comes_with_the_heading_of_its_section_that_stands_in_another_chunk() -> None:
    line = passage(1, "First year: 40 thalers", section="Pay of the pilots")
    assert said_of("What pay do pilots get in the first year?", line) == (
        "Pay of the pilots:\n\nFirst year: 40 thalers [1]"
    )


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "How far did fares rise in 2020-2021?",
            "Fares rose by 7 percent.",
            "Yearly report 2020-2021:\n\nFares",
        ),
        ("How far did fares rise in 2021?", "Fares of 2021 rose by 7 percent.", "Fares"),
        ("How far did fares rise in 2019?", "Fares rose by 7 percent.", "Fares"),
        ("How far did fares rise?", "Fares rose by 7 percent.", "Fares"),
    ],
)
def test_a_year_that_only_the_document_tells_is_told_by_its_name(question: str, text: str, said: str) -> None:
    one = passage(1, text, title="Harbour of Mirow")._replace(document_name="Yearly_report_2020-2021.pdf")
    assert said_of(question, one).startswith(said)


def rows(question: str, *lines: str, columns: tuple[str, ...] = ("", "2019", "2018")) -> str:
    """What is said of a table of lamps."""
    lamps = passage(1, "\n".join(lines))._replace(
        table_head=("Lamps and boats of the harbour are as follows:", *columns)
    )
    return said_of(question, lamps)


def test_a_row_beside_the_one_that_is_asked_for_is_not_said() -> None:
    said = rows(
        "How many lamps did the harbour have in 2019?", "Old and other lamps | 12 | 11", "Ropes | 15 | 14"
    )
    assert "12" in said
    assert "15" not in said


def test_the_row_that_is_asked_for_goes_before_the_total() -> None:
    question = "How many lamps did the harbour have on its boats in 2019?"
    said = rows(question, "Total lamps | 27 | 25", "Lamps on boats | 15 | 14")
    assert said.endswith("Lamps on boats, 2019: 15 [1]")
    assert "27" not in said


def test_how_much_a_figure_changed_is_said_where_that_is_asked_for() -> None:
    columns = ("", "2019", "2018", "2017", "% Change 2019-2018")
    lamps = "Lamps | 15 | 14 | 12 | 7 %"
    assert rows("How many lamps did the harbour have in 2019?", lamps, columns=columns).endswith(
        "Lamps, 2019: 15 [1]"
    )
    assert "7 %" in rows("What was the change in lamps of the harbour in 2019?", lamps, columns=columns)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2 In addition, the ferry is small.", "In addition, the ferry is small [1]."),
        ("12,13 The ferry is small.", "The ferry is small [1]."),
        ("12 Ferries are small.", "12 Ferries are small [1]."),
    ],
)
def test_the_number_of_a_note_is_not_said(text: str, said: str) -> None:
    assert answer("How big is the ferry?", text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The ferry is called “Lieps.”", "The ferry is called “Lieps.” [1]"),
        ("The ferry is small (see below.)", "The ferry is small (see below.) [1]"),
        ("The ferry is “Lieps”.", "The ferry is “Lieps” [1]."),
        ("The ferry is small [...]", "The ferry is small [...] [1]"),
    ],
)
def test_a_marker_stands_behind_what_closes_the_sentence(text: str, said: str) -> None:
    assert answer("How is the ferry called, and how big is the ferry?", text) == said


def test_tags_are_not_said_and_the_sentence_is_cited_word_for_word() -> None:
    question = "Who built the Mirow church?"
    told = (
        'The <a href="/churches/">Mirow <b>church</b></a> was built<br>by <i class="n">Adela Brandt</i>.</p>'
    )
    shown = context_of(judged(question, [passage(1, f"<p>{told}")]).passages)
    said = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown))
    assert said.text == "The Mirow church was built by Adela Brandt [1]."
    (cited,) = asyncio.run(Checker(shown, question=question).whole(said)).citations
    assert cited.support == "exact"


def test_sentences_that_end_in_quotation_marks_stand_in_one_paragraph() -> None:
    text = "The ferry of Mirow is called “Lieps.” Old people call the ferry of Mirow “Granny.”"
    assert answer("What do people call the ferry of Mirow?", text) == (
        "The ferry of Mirow is called “Lieps.” [1] Old people call the ferry of Mirow “Granny.” [1]"
    )


def test_the_fence_of_a_program_that_a_chunk_ends_with_is_no_line() -> None:
    question = "What does mirow stand for?"
    shown = context(question, "Note that `mirow` stands for the Mirow tool\n\n```html")
    assert [option.candidate.text for option in options_of(question, shown)] == [
        "Note that `mirow` stands for the Mirow tool"
    ]
