"""The model that reads what is about to be said, and says nothing where none of it answers."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from embeddings import registry
from knowlex.runtime.components import forget_components
from rag.answering import lifecycle
from rag.answering.pipeline import Pipeline
from rag.context.fitting import context_of
from rag.prompts import NOT_FOUND
from rag.synthesizers import sentence_reader
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.synthesizers.reader_model import ReaderModel
from rag.synthesizers.sentence_reader import (
    ENGLISH,
    FOREIGN,
    OWN,
    SHIPPED,
    Pair,
    Scale,
    SentenceReader,
    scale_for,
    tell_field,
)
from rag.types.answer import Answer
from rag.types.question import Question
from rag.types.retrieval import NamedDocuments, Passage, Retrieval
from tests.rag.factory import CannedRetriever, KeepOrder, as_given
from tests.rag.factory import passage as canned_passage
from tests.relevance.asking import ask_of, judged, passage
from tests.relevance.test_headings import MANUAL
from tests.relevance.test_said_sentences import SETTINGS

BELFRY = (
    "The belfry of Ghent is 91 metres tall. Its bells were cast in Mechelen. "
    "The belfry of Ghent was finished in 1380 and holds the charters of the city."
)
SURE = 0.95  # relevance of the passages that a question gets
DOUBTFUL = 0.6  # relevance, less than an answer needs
PATIENCE_S = 30.0  # on a machine that runs many tests at once


def reading(folder: Path = SHIPPED) -> SentenceReader:
    return SentenceReader(folder, timeout_s=PATIENCE_S)


def answer(question: Question, *texts: str, reader: SentenceReader | None, head: tuple[str, ...] = ()) -> str:
    """What is said of these passages. head: of the table that they are rows of, its title first."""
    told = [passage(n, text)._replace(table_head=head) for n, text in enumerate(texts, start=1)]
    found = judged(question.text, told)
    context = context_of([one._replace(relevance=SURE) for one in found.passages])
    return asyncio.run(ExtractiveSynthesizer(reader=reader).synthesize(question, context)).text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How tall is the belfry of Ghent?", "91 metres"),
        ("When was the belfry of Ghent finished?", "1380"),
        ("Where were the bells of the belfry cast?", "Mechelen"),
        ("Were the bells of the belfry of Ghent cast in Bruges?", "Mechelen"),
    ],
)
def test_what_a_document_says_is_answered(question: str, told: str) -> None:
    assert told in answer(ask_of(question), BELFRY, reader=reading())


@pytest.mark.parametrize(
    "question",
    [
        "Who designed the belfry of Ghent?",
        "Which architect drew the plans of the belfry?",
        "Who paid for the belfry of Ghent?",
    ],
)
def test_a_document_about_the_subject_that_is_silent_on_what_is_asked_is_no_answer(question: str) -> None:
    assert answer(ask_of(question), BELFRY, reader=reading()) == NOT_FOUND
    assert "belfry" in answer(ask_of(question), BELFRY, reader=None)


def test_keywords_are_read_as_the_question_that_they_stand_for() -> None:
    assert "91 metres" in answer(ask_of("belfry Ghent height"), BELFRY, reader=reading())
    assert answer(ask_of("belfry Ghent architect"), BELFRY, reader=reading()) == NOT_FOUND


def test_a_field_is_said_where_it_reads_as_the_answer() -> None:
    said = answer(ask_of("What is the default of the quay port?"), SETTINGS, reader=reading())
    assert said == "quay_port:\n\nDefault: 6432 [1]"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the default of PASS_MAX_DAYS?", "The default is 90 [1]."),
        ("What is the default of PASS_WARN_AGE?", "The default is 0 [1]."),
    ],
)
def test_a_sentence_is_read_below_the_term_that_it_explains(question: str, told: str) -> None:
    """Of its words alone it could answer either question."""
    assert told in answer(ask_of(question), MANUAL, reader=reading())


SIGNED = "The report was signed by these persons.\n\nLea Brandt\nChief Financial Officer\nMay 4, 2022\n"


def test_a_line_is_said_with_the_one_beside_it_that_makes_it_an_answer() -> None:
    told = answer(ask_of("Who is the chief financial officer?"), SIGNED, reader=reading())
    assert told == "Lea Brandt Chief Financial Officer [1]"


@pytest.mark.parametrize(
    ("asked", "text", "said"),
    [
        (
            "When does the course end on Fridays?",
            "Monday to Thursday, 9am to 4pm\nFriday, 9am to 2pm",
            "Friday, 9am to 2pm [1]",
        ),
        (
            "number of shares outstanding of American Water",
            "American Water\nShares outstanding as of July 20, 2023\nCommon stock 194,668,641 shares\n"
            "New York Stock Exchange",
            "American Water:\n\nShares outstanding as of July 20, 2023 Common stock 194,668,641 shares [1]",
        ),
        (
            "When is the lunch break of the course?",
            "• Morning: Lectures\n• Lunch break: 12-1pm\n• Afternoon: Supervised learning",
            "Lunch break: 12-1pm [1]",
        ),
    ],
)
def test_a_line_that_is_said_with_another_one_is_not_said_again(asked: str, text: str, said: str) -> None:
    assert answer(ask_of(asked), text, reader=reading()) == said


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (
            "Is the lift of the belfry on by default?",
            "Power is off by default.",
            "Lift of the belfry:\n\nPower is",
        ),
        (
            "How many climb the belfry on Sundays?",
            "There are some 300 of them.",
            "Climb on Sundays:\n\nThere are",
        ),
        (
            "How tall is the belfry of Ghent?",
            "The belfry of Ghent is 91 metres tall.",
            "The belfry of Ghent is",
        ),
        (
            "What is the default colour of the belfry's flag?",
            "The default colour is red.",
            "The default colour",
        ),
    ],
)
def test_a_sentence_that_reads_far_worse_without_its_heading_is_said_with_it(
    question: str, text: str, told: str
) -> None:
    heading = told.partition(":")[0] if ":" in told else "Flag of the belfry"
    page = f"## {heading}\n\n{text} Guides know it.\n\n## Bells\n\nThe bells ring at noon."
    assert answer(ask_of(question), page, reader=reading()).startswith(told)


def test_a_link_is_read_without_its_address() -> None:
    address = "https://towers.example.org/individuals-and-families/who-paid/and-why/forms-for-visitors?page=2"
    text = f"[The belfry of Ghent]({address}) is 91 metres tall."
    told = answer(ask_of("How tall is the belfry of Ghent?"), text, reader=reading())
    assert told == "The belfry of Ghent is 91 metres tall [1]."


WORKFORCE = "As of May 31, 2022, we employed approximately 143,000 full-time employees."


@pytest.mark.parametrize("relevance", [0.6, 0.0001])
def test_a_document_that_says_we_is_read_as_what_it_is_named_after(relevance: float) -> None:
    """Its sentences do not say the name: read beside it, they are of somebody else. Few of them share a word
    with what is asked, but all are about that name.
    """
    own, other = (canned_passage(n, WORKFORCE, relevance=relevance) for n in (1, 2))
    oracle = NamedDocuments(
        frozenset({own.document_id}), frozenset({"oracl"}), "How many people does employ?"
    )
    found = Retrieval((own, other), named=oracle)
    read = ExtractiveSynthesizer(reader=reading()).read_passages(
        ask_of("How many people does Oracle employ?"), found
    )
    first, second = asyncio.run(read).passages
    assert first.relevance >= 0.8
    assert second.relevance == 0


def test_without_a_threshold_there_is_always_an_answer() -> None:
    question = Question("Who designed the belfry of Ghent?", (), 5, min_relevance=0.0)
    assert "belfry" in answer(question, BELFRY, reader=reading())


def answered(text: str, passage: Passage, reader: SentenceReader | None) -> Answer:
    """What the pipeline answers from one passage of this relevance."""
    parts = CannedRetriever(passage), KeepOrder(), as_given, ExtractiveSynthesizer(reader=reader)
    return asyncio.run(Pipeline(*parts).answer(ask_of(text)))


def test_what_words_and_vectors_find_hardly_relevant_is_answered_where_a_sentence_answers() -> None:
    doubtful = canned_passage(1, BELFRY, relevance=DOUBTFUL)
    found = answered("How tall is the belfry of Ghent?", doubtful, reading())
    assert "91 metres" in found.text
    assert found.context[0].relevance >= found.question.min_relevance
    assert answered("How tall is the belfry of Ghent?", doubtful, None).reason == "below_threshold"


def test_what_no_sentence_answers_stays_irrelevant() -> None:
    doubtful = canned_passage(1, BELFRY, relevance=DOUBTFUL)
    found = answered("Who designed the belfry of Ghent?", doubtful, reading())
    assert (found.answered, found.reason) == (False, "below_threshold")


def test_a_sentence_answers_nothing_about_somebody_whom_its_passage_does_not_name() -> None:
    """It says "the company" of another one, and reads as well as the answer would."""
    doubtful = canned_passage(1, f"{WORKFORCE} Our rivals are many.", relevance=0.01)
    asked = "How many people are employed full-time by {}?"
    assert answered(asked.format("the company"), doubtful, reading()).answered
    found = answered(asked.format("Oracle"), doubtful, reading())
    assert (found.answered, found.reason) == (False, "below_threshold")


@pytest.mark.parametrize(
    ("question", "languages", "scale"),
    [
        ("Who designed the belfry?", ["en", ""], ENGLISH),
        ("In which year was it finished?", ["en"], ENGLISH),
        ("Is the belfry open on Sundays?", ["en"], ENGLISH),
        ("Wer hat den Belfried entworfen?", ["de"], OWN),
        ("¿Quién diseñó el campanario?", ["es", ""], OWN),
        ("钟楼是谁设计的？", ["zh"], OWN),
        ("من صمم برج الأجراس؟", ["ar"], OWN),
        ("Who designed the belfry?", ["en", "de"], FOREIGN),
        ("Wer hat den Belfried entworfen?", ["en"], FOREIGN),
        ("belfry Ghent height", ["en"], ENGLISH),
        ("List the bells of Ghent", ["en"], None),
        ("Ist der Belfried von Gent alt?", ["de"], OWN),
        ("¿Está abierto el campanario?", ["es"], OWN),
        ("钟楼星期天开放吗？", ["zh"], OWN),
        ("هل برج الأجراس مفتوح يوم الأحد؟", ["ar"], OWN),
        ("Höhe Belfried Gent", ["de"], None),
        ("Summarize what the report says about Ghent.", ["en"], None),
        ("When did Jan of Ghent and Willem of Bruges found the guild?", ["en"], ENGLISH),
        ("What is the difference between Ghent and Bruges?", ["en"], None),
        ("Qui a dessiné le beffroi ?", ["fr"], None),
    ],
)
def test_questions_of_a_fact_are_read_in_the_languages_that_were_measured(
    question: str, languages: list[str], scale: Scale | None
) -> None:
    assert scale_for(question, languages) is scale


@pytest.mark.parametrize(
    ("question", "told"),
    [("Wie hoch ist der Belfried von Gent?", "91 Meter"), ("Wer bezahlte den Belfried von Gent?", None)],
)
def test_german_is_read_with_the_words_of_the_multilingual_model(question: str, told: str | None) -> None:
    text = (
        "Der Belfried von Gent ist 91 Meter hoch. Seine Glocken wurden in Mecheln gegossen. "
        "Der Belfried von Gent wurde 1380 vollendet und birgt die Urkunden der Stadt."
    )
    said = answer(ask_of(question), text, reader=reading())
    assert told in said if told else said == NOT_FOUND


def test_a_model_that_cannot_be_loaded_leaves_the_answer(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "words.npy"):
        shutil.copy(SHIPPED / name, tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    assert "belfry" in answer(ask_of("Who designed the belfry of Ghent?"), BELFRY, reader=reading(tmp_path))


def test_loading_the_model_is_not_in_the_time_that_a_reading_has() -> None:
    reader = SentenceReader(timeout_s=0.001)  # loading takes some hundred times as long
    question = ask_of("How tall is the belfry of Ghent?")
    pairs = [Pair(question.text, f"The belfry of Ghent is {n} metres tall.") for n in range(100)]
    assert asyncio.run(reader.read(question, pairs[:1])) is not None
    assert asyncio.run(reader.read(question, pairs)) is None  # and then it has that much


def test_a_server_loads_the_model_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []

    class Noted(ReaderModel):
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            loaded.append(folder)

    monkeypatch.setattr(sentence_reader, "ReaderModel", Noted)
    forget_components()
    asyncio.run(lifecycle.load_models(registry.configured_model()))
    assert loaded == [SHIPPED]


def test_a_folder_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no model\.onnx"):
        SentenceReader(tmp_path)


def test_a_long_sentence_is_read_in_part() -> None:
    question, sentence = ask_of("How tall is the belfry of Ghent?"), "The belfry of Ghent is 91 metres tall, "
    short, long = (
        asyncio.run(reading().read(question, [Pair(question.text, sentence + "and old " * n)]))
        for n in (200, 50_000)
    )
    assert short == long


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("Author: Jane Doe", "The author is Jane Doe."),
        ("- **Opening hours:** 9 to 17", "The opening hours are 9 to 17."),
        ("RAM: 1 GB.", "The RAM is 1 GB."),
    ],
)
def test_a_field_is_read_as_the_sentence_that_it_stands_for(field: str, sentence: str) -> None:
    assert tell_field(field) == sentence


@pytest.mark.parametrize("text", ["It is 9 o'clock.", "What is new: nothing. Why?", f"Note: {'word ' * 20}"])
def test_a_sentence_is_read_as_it_is(text: str) -> None:
    assert tell_field(text) == text


def test_a_short_field_of_a_model_card_is_said() -> None:
    card = "# Heron\n\n- **Author:** Mark D'Arcy\n- **License:** MIT\n- **Version:** v1.0\n"
    assert "MIT" in answer(ask_of("Which license does Heron have?"), card, reader=reading())


PROGRAMME = (
    "| Time | Talk |\n|---|---|\n| 09:15 - 10:15 | Keynote of Ann Lee on the belfries of Flanders |\n"
    "| 10:30 - 11:30 | Workshop on bells |\n"
)


def test_a_row_of_words_is_read_as_a_sentence_is() -> None:
    said = answer(ask_of("When is the keynote of Ann Lee?"), PROGRAMME, reader=reading())
    assert said == "09:15 - 10:15 | Keynote of Ann Lee on the belfries of Flanders [1]"
    question = ask_of("Who paid for the keynote of Ann Lee on the belfries of Flanders?")
    assert answer(question, PROGRAMME, reader=reading()) == NOT_FOUND
    assert "Ann Lee" in answer(question, PROGRAMME, reader=None)


LAYOFFS = (
    "| Company | Town | Employees |\n| --- | --- | --- |\n| Rdio, Inc. | San Francisco | 123 |\n"
    "| Kim Lighting | City of Industry | 160 |\n| Golden Drilling | Bakersfield | 104 |"
)


def test_a_row_of_figures_is_said_unless_it_has_nothing_to_do_with_what_is_asked() -> None:
    asked = "How many employees has Golden Drilling in Bakersfield?"
    assert "104" in answer(ask_of(asked), LAYOFFS, reader=reading())
    question = ask_of("Who signed the notice of Golden Drilling in Bakersfield?")
    assert answer(question, LAYOFFS, reader=reading()) == NOT_FOUND
    assert "Golden Drilling" in answer(question, LAYOFFS, reader=None)


VITAMINS = tuple(f"Vitamin B{n} (mg)" for n in range(1, 13))
CAKES_HEAD = ("", "Cake", "Price (GBP)", "Portion (g)", "Energy (kcal)", "Fat (g)", "Protein (g)", *VITAMINS)
CAKES = "\n".join(
    " | ".join((*cells, *("0.1" for _ in VITAMINS)))
    for cells in (
        ("Cherry slice", "2.10", "136", "409", "26", "5"),
        ("Almond ring", "1.90", "90", "310", "18", "6"),
    )
)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("How much protein is in an almond ring?", "Almond ring, Protein (g): 6 [1]"),
        ("How many kilocalories are in a cherry slice?", "Cherry slice, Energy (kcal): 409 [1]"),
    ],
)
def test_of_a_long_row_the_cell_is_said_that_is_asked_for(asked: str, told: str) -> None:
    assert answer(ask_of(asked), CAKES, head=CAKES_HEAD, reader=reading()) == told


def test_of_a_long_row_without_a_column_that_is_asked_for_by_name_what_reads_best_is_said() -> None:
    said = answer(ask_of("How much does a cherry slice cost?"), CAKES, head=CAKES_HEAD, reader=reading())
    assert said.startswith("Cherry slice, ")
    assert "Price (GBP): 2.10" in said
    assert said.count(";") < 6


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ("Why is an almond ring so heavy?", True),
        ("Who bakes the almond ring?", True),
        ("How heavy is an almond ring?", False),
    ],
)
def test_a_row_of_figures_tells_neither_reasons_nor_names(asked: str, *, refused: bool) -> None:
    cakes, head = (
        "Cherry slice | 136 | 409\nAlmond ring | 90 | 310",
        ("", "Cake", "Weight (g)", "Energy (kcal)"),
    )
    assert (answer(ask_of(asked), cakes, head=head, reader=reading()) == NOT_FOUND) is refused


def test_words_that_most_heads_share_tell_no_column() -> None:
    head = (
        "",
        "Sector",
        "Sector profile 2017: agents",
        "Sector profile 2017: arrests",
        "Sector profile 2017: deaths",
    )
    sectors = "Tucson sector | 3,691 | 38,657 | 44\nYuma sector | 859 | 12,847 | 3"
    asked = "How many agents were there in the Yuma sector in 2017?"
    said = answer(ask_of(asked), sectors, head=head, reader=reading())
    assert said == "Yuma sector, Sector profile 2017: agents: 859 [1]"


def test_a_row_of_other_years_is_not_said() -> None:
    sales, head = "Lamps sold | 120 | 140\nLamps lost | 3 | 5", ("Harbour", "", "2019", "2020")
    asked = "How many lamps were sold in 2019?"
    assert answer(ask_of(asked), sales, head=head, reader=reading()) == "Harbour: Lamps sold, 2019: 120 [1]"
    asked = "How many lamps were sold in 2011?"
    assert answer(ask_of(asked), sales, head=head, reader=reading()) == NOT_FOUND
    assert "120" in answer(ask_of(asked), sales, head=head, reader=None)


def test_a_row_below_another_year_or_in_a_text_of_another_year_is_not_said() -> None:
    head = ("", "", "Lamps", "Bells")
    sales = "2019:\nSold | 120 | 14\n2020:\nSold | 140 | 19"
    asked = "How many lamps were sold in {}?"
    assert "140" in answer(ask_of(asked.format(2020)), sales, head=head, reader=reading())
    assert "120" not in answer(ask_of(asked.format(2020)), sales, head=head, reader=reading())
    harbour = "The harbour in 2019.\nLamps sold | 120 | 14"
    assert (
        answer(ask_of(asked.format(2011)), harbour, head=("", "", "June", "July"), reader=reading())
        == NOT_FOUND
    )


STATEMENT = (
    "Statements of Income (in thousands)",
    "",
    "52 weeks ended 1 June 2019",
    "52 weeks ended 2 June 2018",
)


def test_rows_of_all_tables_are_read_before_one_is_chosen() -> None:
    years = ("", "2022", "2021")
    tables = [
        (
            ("Non-operating income (expense), net", *years),
            "Total non-operating income, net | (90) | (97)",
            0.99,
        ),
        (("Statements of income (in millions)", *years), "Total revenue | 17,606 | 15,785", 0.9),
        (("Statements of income (in millions)", *years), "Operating profit | 6,098 | 5,802", 0.85),
    ]
    told = [
        passage(n, text)._replace(table_head=head, relevance=relevance)
        for n, (head, text, relevance) in enumerate(tables, start=1)
    ]
    question = ask_of("What was the operating income in 2022?")
    answering = ExtractiveSynthesizer(reader=reading())
    said = asyncio.run(answering.synthesize(question, context_of(told))).text
    assert said == "Statements of income (in millions): Operating profit, 2022: 6,098 [3]"


def test_a_figure_makes_its_passage_relevant_beside_one_that_is_relevant() -> None:
    rows = passage(1, "Operating income | 3,120 | 2,944")._replace(table_head=STATEMENT, relevance=0.6)
    text = passage(2, "Operating income is what is left of the sales of a year.")._replace(relevance=SURE)
    question = ask_of("What was the operating income in 2019?")
    found = judged(question.text, [text, rows])
    given = replace(found, passages=(text, rows))
    read = asyncio.run(ExtractiveSynthesizer(reader=reading()).read_passages(question, given))
    assert read.passages[1].relevance >= question.min_relevance


def test_a_cell_is_read_below_the_title_of_its_table_unless_that_names_a_whole_statement() -> None:
    read: list[str] = []

    class Noted(SentenceReader):
        async def read(
            self, question: Question, pairs: Sequence[Pair], *, english: bool = True
        ) -> list[float] | None:
            read.extend(pair.sentence for pair in pairs)
            return [0.0] * len(pairs)

    titles = ("Retail in North America", "Statements of Income (in thousands)")
    for title in titles:
        head = (title, "", "2020", "2021")
        answer(ask_of("What were sales in 2021?"), "Sales | 120 | 140", head=head, reader=Noted())
    assert read == ["Retail in North America: Sales: 2021: 140", "Sales: 2021: 140"]
