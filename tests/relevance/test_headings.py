"""Which heading or term a sentence stands below, in Markdown and in manuals in plain text."""

from rag.extracting.candidates import candidates_of
from tests.relevance.test_extracting import context, first

QUESTION = "How many days may a password be used?"
MANUAL = """\
FILES
       Both files are read in this order. Later lines win.

       PASS_MAX_DAYS (number)
           The most days that a password may be used. If it is older, a
           change will be forced.

           The default is 90.

       PASS_MIN_DAYS and PASS_WARN_AGE
           set how many days have to go by before a change and how many of
           warning there are. The default is 0.

       All of these are read when an account is created.

SEE ALSO

       The page of passwd tells more.
"""


def headings_of(text: str, section: str = "") -> dict[str, str]:
    """Return the heading that each sentence stands below."""
    found = candidates_of(QUESTION, context(QUESTION, text, section=section))
    return {one.text: one.heading for one in found}


def test_a_sentence_of_a_manual_stands_below_the_term_that_it_explains() -> None:
    headings = headings_of(MANUAL)
    assert headings["Later lines win."] == "FILES"
    assert headings["The most days that a password may be used."] == "PASS_MAX_DAYS (number)"
    assert headings["The default is 90."] == "PASS_MAX_DAYS (number)"
    assert headings["The default is 0."] == "PASS_MIN_DAYS and PASS_WARN_AGE"


def test_a_term_is_left_where_the_text_is_no_longer_indented_deeper() -> None:
    headings = headings_of(MANUAL)
    assert headings["All of these are read when an account is created."] == "FILES"
    assert headings["The page of passwd tells more."] == "SEE ALSO"


def test_a_term_answers_nothing_itself() -> None:
    assert first("What is PASS_MAX_DAYS?", MANUAL) == "The most days that a password may be used."


def test_a_sentence_stands_below_the_nearest_heading_of_markdown_or_that_of_its_section() -> None:
    headings = headings_of(
        "It is asked for.\n\n## Passwords\n\nThey hold 90 days.\n\n## Keys\n\nThey hold long.", "Intro"
    )
    assert headings["It is asked for."] == "Intro"
    assert headings["They hold 90 days."] == "Passwords"
    assert headings["They hold long."] == "Keys"


def test_an_answer_in_a_list_of_questions_stands_below_its_question() -> None:
    headings = headings_of("How long does a password hold?\n\nNinety days.\n")
    assert headings["Ninety days."] == "How long does a password hold?"


def test_what_an_item_asks_within_is_no_heading_of_the_next_one() -> None:
    items = "1. You may speak elsewhere. Is somebody paying you for it? That is fine.\n2. A shop is fine.\n"
    assert set(headings_of(items).values()) == {""}


def test_a_line_that_only_wraps_is_no_term() -> None:
    entry = (
        "Brandt, A. and Holm, B. (1999). The age of passwords and of what\n"
        "    people make of them. Mirow Press.\n\n"
        "It rained.\n"
    )
    assert headings_of(entry)["It rained."] == ""


def test_neither_a_step_nor_a_line_of_verse_is_a_heading() -> None:
    steps = "1. Open the box\n   Take out the key. It is red.\n"
    verse = "A bridge of stone\n    Above the tide.\nA man alone\n    On its far side.\n"
    assert set(headings_of(steps).values()) == set(headings_of(verse).values()) == {""}


def test_the_first_term_of_a_passage_is_one_though_its_indentation_is_lost() -> None:
    begun = MANUAL[MANUAL.index("PASS_MAX_DAYS") :]
    headings = headings_of(begun, section="Settings")
    assert headings["The default is 90."] == "PASS_MAX_DAYS (number)"
    assert headings["All of these are read when an account is created."] == "Settings"


def test_below_a_heading_with_another_identifier_something_else_is_told() -> None:
    other = "DIR_MODE\n    The mode of folders. It is 0700 by default.\n\n"
    asked = "SYS_DIR_MODE\n    The mode of folders. It is 0755 by default.\n\n"
    for text in (asked + other, other + asked):
        assert first("What is the default of SYS_DIR_MODE?", text) == "It is 0755 by default."
        assert first("What is the default of DIR_MODE?", text) == "It is 0700 by default."


def test_an_option_is_told_by_what_stands_below_it_not_by_what_mentions_it() -> None:
    text = (
        "-d, --home-dir DIR\n    The folder of the user. Where DIR does not exist, it is made unless the -M"
        " option of useradd is given.\n\n"
        "-m, --create-home\n    Make the folder if there is none.\n\n"
        "-M, --no-create-home\n    Make no folder, even where the system asks for one.\n"
    )
    assert first("What does the -m option of useradd do?", text) == "Make the folder if there is none."
    small = "Make no folder, even where the system asks for one."
    assert first("What does the -M option of useradd do?", text) == small


def test_a_code_is_told_with_its_meaning_and_without_its_neighbours() -> None:
    codes = "\n\n".join(
        f"    {code}\n        {meaning}"
        for code, meaning in ((4, "UID already in use"), (6, "no such group"), (9, "name already in use"))
    )
    text = f"EXIT VALUES\n    The command exits with these values:\n\n{codes}\n"
    assert first("What does exit value 9 mean?", text) == "9 name already in use"


def test_the_items_of_an_item_stand_below_it() -> None:
    headings = headings_of(
        "- **Ball**\n  - Tickets\n    - 40 pounds for members\n  - Food\n- Café\n\n"
        ".. list-table::\n\n    * - RAM\n      - 1 GB\n    * - System\n      - Linux\n"
    )
    assert headings["- Tickets"] == headings["- Food"] == "Ball"
    assert headings["- 40 pounds for members"] == "Ball: Tickets"
    assert headings["- Café"] == ""
    assert (headings["- 1 GB"], headings["- Linux"]) == ("RAM", "System")
