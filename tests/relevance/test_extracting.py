"""Which sentence answers: by the form that the question asks for, and by what stands around it."""

import asyncio

import pytest

from rag.citations import without_markers
from rag.citations.checker import CheckedReply, Checker
from rag.context.fitting import assemble, context_of
from rag.extracting.candidates import with_forms
from rag.extracting.selection import MOST, WHOLE, choose, options_of
from rag.extracting.sentence_form import asks_meaning, expected_kinds, kind_asked
from rag.ranking.sentences import analysis_of
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.answer import Synthesis, Usage
from rag.types.context import Context
from tests.relevance.asking import answer, ask_of, judged, passage

BRIDGE = (
    "The Mirow bridge has a long story. The Mirow bridge was opened because the ferry had sunk twice. "
    "The Mirow bridge was opened in 1907. The Mirow bridge was opened by Countess Adela Brandt. "
    "The Mirow bridge rests on 14 pillars of granite."
)
GLOSSARY = (
    "The stages of mitosis follow each other.\n\n"
    "anaphase\n:   stage of mitosis during which the sister chromatids are separated\n\n"
    "cohesin\n:   protein that holds the sister chromatids together\n\n"
    "mitosis\n:   division of the nucleus\n"
)
QUESTION_OF_RULES = "Besides the sum rule, which rule holds?"


def context(question: str, *texts: str, title: str = "", section: str = "") -> Context:
    passages = [passage(n, text, title=title, section=section) for n, text in enumerate(texts, start=1)]
    return context_of(judged(question, passages).passages)


def first(question: str, *texts: str) -> str:
    """The sentence that is likeliest to answer."""
    return options_of(question, context(question, *texts))[0].candidate.text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When was the Mirow bridge opened?", "in 1907"),
        ("In which year was the Mirow bridge opened?", "in 1907"),
        ("Who opened the Mirow bridge?", "Countess Adela Brandt"),
        ("Why was the Mirow bridge opened?", "because the ferry had sunk"),
        ("How many pillars does the Mirow bridge have?", "14 pillars"),
    ],
)
def test_a_sentence_of_the_form_that_is_asked_for_goes_first(question: str, told: str) -> None:
    assert told in first(question, BRIDGE)


def test_a_question_in_another_language_is_answered_by_the_nearest_sentence() -> None:
    """What the other sentences share with it, a name, does not outweigh what is meant."""
    text = "The Mirow ferry was named after Countess Brandt of Mirow. It sank in 1906. Nobody was hurt."
    question = "Was geschah mit der Fähre von Mirow?"
    spans = analysis_of(text, "en").spans
    near = passage(1, text, distance=0.15)._replace(
        language="en", bounds=spans, similarities=(0.80, 0.84, 0.79)
    )
    shown = context_of(judged(question, [near]).passages)
    assert choose(question, shown)[0].text == "It sank in 1906."


@pytest.mark.parametrize(
    "entry",
    [
        "48. Rogers FB, Shackford SR, Wilson J: Vena cava filter insertion in injured patients.",
        "Rogers, F. B., Shackford, S. (1995). Vena cava filter insertion in injured patients.",
    ],
)
def test_the_entry_of_a_bibliography_names_a_work_and_tells_nothing(entry: str) -> None:
    told = "In Vermont, Mr. Rogers put a filter into the vena cava of 63 patients who were injured."
    question = "Who had a vena cava filter inserted in injured patients?"
    assert first(question, f"{entry}\n\n{told}") == told


def test_what_stands_in_brackets_alone_tells_nothing() -> None:
    told = "The notes came to 129 dollars in December."
    assert first("How much debt had the harbour?", f"(debt of the harbour, in dollars)\n\n{told}") == told


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("When did it open?", {"time"}),
        ("Wann wurde die Brücke eröffnet?", {"time"}),
        ("¿Cuándo se abrió el puente?", {"time"}),
        ("这座桥是什么时候建成的？", {"time"}),
        ("How many pillars?", {"number"}),
        ("Wie viele Pfeiler hat sie?", {"number"}),
        ("Combien de piliers ?", {"number"}),
        ("Wer hat sie eröffnet?", {"name"}),
        ("Où est-il ?", {"name"}),
        ("متى افتتح الجسر؟", {"time"}),
        ("كم عدد أعمدة الجسر؟", {"number"}),
        ("من افتتح الجسر؟", {"name"}),
        ("أين يقع الجسر؟", {"name"}),
        ("لماذا أغلق الجسر؟", {"reason"}),
        ("Why is it closed?", {"reason"}),
        ("为什么关闭？", {"reason"}),
        ("What is the difference between a quay and a pier?", {"contrast"}),
        ("What is a bridge for trains called?", {"term"}),
        ("Is it open?", set()),
    ],
)
def test_a_question_tells_what_form_its_answer_has(question: str, forms: set[str]) -> None:
    assert expected_kinds(question) == forms


def test_a_number_of_the_question_itself_answers_nothing() -> None:
    text = "In 1907 the 14 pillars were built. The 14 pillars of the bridge are 30 metres high."
    assert "30 metres" in first("How high are the 14 pillars of the bridge?", text)


def test_a_glossary_is_read_for_what_is_asked() -> None:
    assert first("During which stage are the sister chromatids separated?", GLOSSARY).startswith("anaphase")
    assert first("What is mitosis?", GLOSSARY).startswith("mitosis")
    assert kind_asked("Which stage of mitosis is it?", "en") == {"stage"}
    assert kind_asked("Which type of life cycle do they have?", "en") == {"life", "cycl"}
    assert asks_meaning("What is mitosis?")
    assert not asks_meaning("Which stage is it?")


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (
            "The methods of Mirow make use of which rule?",
            "The methods of Mirow are tedious. The methods apply the product rule. The rule is old.",
            "product rule",
        ),
        (
            "What type of bond forms between the ropes of a raft?",
            "The ropes of a raft hold the bond together. The bond of the ropes is called a **reef knot**. "
            "The bond between the ropes forms while the raft is dry.",
            "reef knot",
        ),
    ],
)
def test_a_sentence_that_tells_which_of_the_kind_goes_first(question: str, text: str, told: str) -> None:
    assert told in first(question, text)


def test_the_kind_of_the_question_itself_tells_nothing() -> None:
    shown = context(QUESTION_OF_RULES, "The sum rule holds. The product rule holds.")
    found = options_of(QUESTION_OF_RULES, shown)
    kinds = {one.candidate.text: with_forms(QUESTION_OF_RULES, one.candidate, shown).kind for one in found}
    assert kinds == {"The sum rule holds.": 0.0, "The product rule holds.": 1.0}


def test_an_answer_below_a_question_goes_before_the_question_and_what_else_is_there() -> None:
    text = (
        "How long is the notice period?\nIt is six weeks to the end of a month.\n\n"
        "How is notice given?\nIn writing."
    )
    assert answer("How long is the notice period?", text).startswith("It is six weeks to the end of a month")


def test_what_a_chapter_is_to_teach_is_not_what_it_says() -> None:
    text = "* Describe the Mirow experiments\n\nThe experiments of Mirow showed that ropes sag."
    assert "Describe" not in answer("What did the Mirow experiments show?", text)


def test_what_a_heading_names_need_not_be_said_again() -> None:
    texts = ("The fee is 40 euros.", "The fee is 90 euros.")
    question = "What is the fee for a parking permit?"
    passages = [
        passage(1, texts[0], section="Library card"),
        passage(2, texts[1], section="Parking permit"),
    ]
    found = options_of(question, context_of(judged(question, passages).passages))
    assert found[0].candidate.text == texts[1]


def test_a_sentence_that_a_pages_end_tore_apart_is_said_whole() -> None:
    torn = (
        "The council met twice a year. The auditors found that the reserve of the harbour fund had fallen\n\n"
        "3 / 8\n\nto 31 million euros, which is less than the statutes allow. Nobody spoke."
    )
    question = "To how much had the reserve of the harbour fund fallen?"
    said = answer(question, torn)
    assert "had fallen 3 / 8 to 31 million euros, which is less than the statutes allow" in said
    assert without_markers(said).rstrip(".") in " ".join(torn.split())


def test_a_heading_stays_apart_from_the_text_below_it() -> None:
    said = answer(
        "What does consistent hashing do?", "Consistent Hashing\n\nconsistent hashing spreads keys."
    )
    assert said == "consistent hashing spreads keys [1]."
    text = "2.6. Recovering data from damaged files\n\nbzip2 compresses files in blocks of 900 kbytes."
    below = context_of([passage(1, text, section="2.6. Recovering data from damaged files")])
    told = choose("How does bzip2 compress files?", below)
    assert told[0].text == "bzip2 compresses files in blocks of 900 kbytes."


def test_a_sure_answer_is_one_sentence_and_none_is_longer_than_three() -> None:
    assert len(choose("How many pillars does the Mirow bridge have?", context("Mirow pillars", BRIDGE))) == 1
    vague = " ".join(f"The harbour has a pier of type {n}." for n in range(20))
    assert 1 < len(choose("What about the harbour?", context("What about the harbour?", vague))) <= MOST


def test_sentences_without_vectors_and_scores_are_chosen_by_their_words() -> None:
    bare = context_of([p._replace(sentences=()) for p in context("x", BRIDGE).passages])
    assert choose("When was the Mirow bridge opened?", bare)[0].text == "The Mirow bridge was opened in 1907."


def test_a_question_without_words_is_answered_from_what_there_is() -> None:
    assert choose("???", context("???", BRIDGE))
    assert choose("???", context_of([])) == []


def test_a_stream_tells_sentence_by_sentence_what_the_plain_answer_does() -> None:
    question = "How many steps have the north and the south tower?"
    shown = context(question, "The south tower has 98 steps.", "The north tower has 120 steps.")

    async def streamed() -> list[str | Usage]:
        return [piece async for piece in ExtractiveSynthesizer().stream(ask_of(question), shown)]

    *pieces, usage = asyncio.run(streamed())
    plain = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown))
    assert len(pieces) == 2
    assert "".join(map(str, pieces)) == plain.text
    assert usage == plain.usage == Usage(model="extractive")


def test_a_link_is_said_by_its_words_and_cited_word_for_word() -> None:
    question = "When was the Mirow bridge opened?"
    told = 'The [Mirow bridge](https://mirow.example/b_(old) "A picture") was opened in [1907](y.md){.year}.'
    shown = context(question, told)
    said = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown))
    assert said.text == "The Mirow bridge was opened in 1907 [1]."
    checked = asyncio.run(Checker(shown, question=question).whole(said))
    (cited,) = checked.citations
    assert cited.support == "exact"
    assert told[cited.quote_start : cited.quote_end] == told


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "What must the share of oil be?",
            "The share of oil must be in [0, 1], else it burns.",
            "in [0, 1], else",
        ),
        ("What is the first lamp?", "The first lamp is `lamps[1]` in every program.", "is `lamps(1)` in"),
        (
            "Which digits has a lamp?",
            "The digits of a lamp are `[0-9]+` everywhere.",
            "are `[0-9]+` everywhere",
        ),
        ("Which tag marks a lamp?", "The tag `<strong>` marks a lamp on a page.", "`<strong>` marks"),
        (
            "How does one link a lamp?",
            "Link a lamp as `[lamp](https://a.example)` does.",
            "`[lamp](https://a",
        ),
        (
            "Which lamp is new?",
            '{% set a = "b" %} The blue lamp is new.[^new] It hangs.',
            "The blue lamp is new [1]",
        ),
        ("Who is the blue lamp?", "### Lamp {#blue-lamp}\n\nThe blue lamp is Ida.", "The blue lamp is Ida"),
        (
            "Which lamp burns oil?",
            "The lamp [3] [4] burns oil ([5]), see max().",
            "The lamp burns oil, see max() [1].",
        ),
    ],
)
def test_code_and_intervals_are_said_as_they_stand_and_the_numbers_of_notes_are_not(
    question: str, text: str, said: str
) -> None:
    shown = context(question, text)
    answered = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown))
    checked = asyncio.run(Checker(shown, question=question).whole(answered))
    assert said in checked.text


def test_a_single_item_is_said_without_its_number_and_a_list_with_its_numbers() -> None:
    one = context(
        "Who mends the bridge?", "1. The mayor opens the fair.\n2. The smith mends the Mirow bridge."
    )
    said = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of("Who mends the Mirow bridge?"), one))
    assert said.text.startswith("The smith mends the Mirow bridge [1].")
    question = "How is the Mirow bridge mended?"
    steps = "The Mirow bridge is mended so:\n1. The smith heats the iron.\n2. The mayor pays him."
    said = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), context(question, steps)))
    assert "1. The smith heats the iron" in said.text


def test_the_markup_of_a_picture_answers_nothing() -> None:
    question = "What does the Mirow bridge rest on?"
    picture = '<p align="center"><img src="mirow-bridge.jpg" alt="What the Mirow bridge rests on"></p>'
    shown = context(question, f"{picture}\n\nThe Mirow bridge rests on 14 pillars of granite.")
    told = [option.candidate.text for option in options_of(question, shown)]
    assert told == ["The Mirow bridge rests on 14 pillars of granite."]


def test_beside_a_sentence_that_reads_as_the_answer_only_such_ones_are_said() -> None:
    question = "When was the Mirow bridge opened?"
    text = "The Mirow bridge was opened by the mayor in 1907. In 1931 the Mirow bridge was opened for trains."
    shown = context(question, text)
    likeliest, other = (option.candidate for option in options_of(question, shown))
    assert [likeliest, other] == choose(question, shown)
    assert [likeliest] == choose(question, shown, readings={likeliest: 3.0, other: -4.0})
    assert [likeliest, other] == choose(question, shown, readings={likeliest: 3.0, other: 2.0})


@pytest.mark.parametrize(
    ("question", "text", "reading"),
    [
        (
            "How much did the Mirow bridge cost?",
            "The Mirow bridge cost the town 240,000 thalers. "
            "By its ledgers the Mirow bridge cost 240,000 in 1907.",
            2.9,
        ),
        (
            "When did the Mirow bridge open?",
            "The Mirow bridge opened in May 1907.\n\nMirow bridge, open day 1907, Countess Adela",
            4.5,
        ),
    ],
)
def test_neither_the_number_again_nor_a_line_is_said_beside_an_answer(
    question: str, text: str, reading: float
) -> None:
    shown = context(question, text)
    likeliest, other = (option.candidate for option in options_of(question, shown))
    assert [likeliest] == choose(question, shown, readings={likeliest: 3.0, other: reading})


def test_what_was_not_read_comes_before_what_reads_as_no_answer() -> None:
    """A row of figures is not read as a sentence."""
    question = "When was the Mirow bridge opened?"
    text = "The Mirow bridge was opened by the mayor in 1907. In 1931 the Mirow bridge was opened for trains."
    shown = context(question, text)
    likeliest, other = (option.candidate for option in options_of(question, shown))
    assert choose(question, shown, readings={likeliest: -5.5})[0] == other
    assert choose(question, shown, readings={likeliest: 0.0})[0] == likeliest


def test_chunks_that_were_put_together_are_cited_by_their_block() -> None:
    question = "When was the Mirow bridge opened?"
    text = f"{BRIDGE} Trains have crossed it since 1931."
    cut = text.index("The Mirow bridge was opened by")
    chunks = [passage(1, text[: cut - 1]), passage(2, text[cut:])._replace(start_char=cut)]
    chunks[1] = chunks[1]._replace(document_id=chunks[0].document_id, chunk_index=1)
    shown = assemble(judged(question, chunks).passages)
    assert len(shown.blocks) == 1
    said = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown)).text
    assert "The Mirow bridge was opened in 1907 [1]." in said


def test_a_sentence_that_is_cut_between_two_chunks_is_weighed_whole() -> None:
    question = "Where does the Mirow bridge cross the canal?"
    text = "The Mirow bridge crosses the canal at the old mill. The bridge has 14 pillars."
    cut = text.index("bridge crosses")
    chunks = [passage(1, text[: cut - 1]), passage(2, text[cut:])._replace(start_char=cut)]
    chunks[1] = chunks[1]._replace(document_id=chunks[0].document_id, chunk_index=1)
    shown = assemble(judged(question, chunks).passages)
    assert len(shown.blocks) == 1
    assert choose(question, shown)[0].text == "The Mirow bridge crosses the canal at the old mill."
    assert options_of(question, shown)[0].candidate.traits.coverage > WHOLE


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("During which stage are the sister chromatids separated?", (GLOSSARY,)),
        ("Which stage do they hold together?", (GLOSSARY, BRIDGE)),
        ("What about the Mirow bridge?", (BRIDGE, "- Mirow bridge: 14 pillars\n- Mirow ferry: sunk\n")),
        (
            "How far had the harbour fund fallen?",
            ("The harbour fund had fallen\n\n2 / 5\n\nto 31 million euros.",),
        ),
        ("这座桥是什么时候建成的？", ("这座桥是1907年建成的。桥有14个桥墩。",)),
    ],
)
def test_every_sentence_is_found_word_for_word_in_the_passage_that_it_cites(
    question: str, texts: tuple[str, ...]
) -> None:
    shown = context(question, *texts)
    text = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown)).text

    async def checked() -> CheckedReply:
        checker = Checker(shown)
        await checker.feed(text)
        return await checker.finish()

    citations = asyncio.run(checked()).citations
    assert len(citations) == text.count(" [")
    assert {citation.support for citation in citations} == {"exact"}


LEDGER = """Net sales | $ 1,200 | $ 1,100
Cost of sales | 800 | 750
Operating expenses:
Marketing | 90 | 85
Total | 90 | 85"""
LEDGER_HEAD = ("Harbour accounts (in thousands)", "", "Year Ended May 31, 2019", "Year Ended May 31, 2018")


@pytest.mark.parametrize(
    ("question", "told", "row"),
    [
        (
            "What were the net sales of the harbour in 2018?",
            "Net sales, Year Ended May 31, 2018: $ 1,100",
            "Net sales | $ 1,200 | $ 1,100",
        ),
        (
            "How much did marketing cost in 2019?",
            "Operating expenses: Marketing, Year Ended May 31, 2019: 90",
            "Marketing | 90 | 85",
        ),
    ],
)
def test_a_figure_is_told_with_its_year_and_unit_and_cited_by_its_row(
    question: str, told: str, row: str
) -> None:
    lines = f"Harbour accounts (in thousands)\nYear Ended May 31,\n2019 | 2018\n{LEDGER}"
    for content in (LEDGER, lines):  # the head in a chunk before, and in the same one
        ledger = passage(1, content, title="Harbour")._replace(table_head=LEDGER_HEAD)
        shown = context_of(judged(question, [ledger, passage(2, BRIDGE)]).passages)
        text = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown)).text
        assert text == f"Harbour accounts (in thousands): {told} [1]"
        reply = asyncio.run(Checker(shown, question=question).whole(Synthesis(text)))
        quotes = [content[citation.quote_start : citation.quote_end] for citation in reply.citations]
        assert quotes[-1] == row
        assert {citation.support for citation in reply.citations} == {"supported"}
        assert ("2019 | 2018" in quotes[0]) == (content is lines)


def test_a_figure_of_another_year_is_not_supported_by_its_row() -> None:
    question = "What were the net sales of the harbour in 2018?"
    ledger = passage(1, LEDGER)._replace(table_head=LEDGER_HEAD)
    said = "Harbour accounts (in thousands): Net sales, Year Ended May 31, 2018: $ 1,200 [1]"
    shown = context_of(judged(question, [ledger]).passages)
    reply = asyncio.run(Checker(shown, question=question).whole(Synthesis(said)))
    assert "supported" not in {citation.support for citation in reply.citations}


def test_the_title_of_a_table_is_said_once_and_each_row_is_supported() -> None:
    question = "How many lamps did the harbour have in 2019?"
    lamps = passage(1, "Lamps of the north | 12 | 11\nLamps of the south | 15 | 14")
    lamps = lamps._replace(table_head=("What the harbour has is as follows:", "", "2019", "2018"))
    shown = context_of(judged(question, [lamps]).passages)
    text = asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), shown)).text
    first = "What the harbour has is as follows: Lamps of the north, 2019: 12 [1]"
    assert text.split("\n\n") == [first, "Lamps of the south, 2019: 15 [1]"]
    reply = asyncio.run(Checker(shown, question=question).whole(Synthesis(text)))
    assert {citation.support for citation in reply.citations} == {"supported"}
