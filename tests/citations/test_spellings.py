"""Numbers, dates and counts in the spellings of models and of documents: the same ones, and others."""

import time

import pytest

from rag.citations.agreement import denials
from rag.citations.facts import facts_of
from tests.citations.replies import judgement_of, state


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The fund holds 5 m euros.", "The fund holds 5 million euros."),
        ("The fund holds $5m.", "The fund holds 5 million dollars."),
        ("The tower is 5 m tall.", "The tower is 5 metres tall."),
        ("The tower is 0.33 km tall.", "The tower is 330 m tall."),
        ("One in five households has a cat.", "Of all households 20 % have a cat."),
        ("A fifth of the households have a cat.", "Of all households 20 % have a cat."),
        ("Half of the seats were sold.", "50 percent of the seats were sold."),
        ("Two thirds of the seats were sold.", "67 % of the seats were sold."),
        ("The dough rests for half an hour.", "The dough rests for 30 minutes."),
        ("The notice period is two weeks.", "The notice period is 14 days."),
        ("The rate is £0.45 a mile.", "The rate is 45p a mile."),
        ("The trail is 10 km (6.2 miles) long.", "The trail is 10 km long."),
        ("The pump bears 16 bar (about 232 psi).", "The pump bears 16 bar."),
        ("The village has 2,018 inhabitants.", "The village has 2018 inhabitants."),
        ("The village has 2.018 inhabitants.", "The village has 2018 inhabitants."),
        ("The village has 2,018 inhabitants.", "The village has 2.018 inhabitants."),
        ("The village has 2 018 inhabitants.", "The village has 2018 inhabitants."),
        ("The Second Chamber meets in Rome.", "Chamber II meets in Rome."),
        ("Chamber II meets in Rome.", "The second chamber meets in Rome."),
        ("The firm was founded on 2021-03-05.", "The firm was founded on 5 March 2021."),
        ("The firm was founded on March 5, 2021.", "The firm was founded on 2021-03-05."),
        ("Die Firma besteht seit dem 05.03.2021.", "Die Firma besteht seit dem 5. März 2021."),
        ("Die Firma besteht seit dem 5. März 2021.", "Die Firma besteht seit dem 05.03.2021."),
        ("The firm was founded on 05.03.2021.", "The firm was founded on 5 March 2021."),
        ("Twenty-five people came.", "25 people came."),
        ("About 50 people came.", "51 people came."),
        ("Die Kosten betrugen 7.800.000 Franken.", "Die Kosten betrugen 7,8 Millionen Franken."),
        ("Revenue rose to $4.2 billion.", "Revenue rose to $4,200 million."),
        ("The coil weighs twelve kilograms.", "The coil weighs 12 kg."),
        ("The price is 45 cents.", "The price is $0.45."),
        ("The share is 12 per cent.", "The share is 12%."),
        ("The first chamber has 3 seats.", "The 1st chamber has three seats."),
        ("The range is 10-12 m.", "The range is from 10 m to 12 m."),
        ("It came in the 3rd week.", "It came in the third week."),
        ("苏格兰议会由129名议员组成", "议会有１２９名议员。"),
        ("The war lasted from 1914 to 1918.", "The war of 1914–18 lasted long."),
        ("The report covers 2019 to 2021.", "The report covers 2019-21."),
        ("The report covers 2019 to 2020.", "The report covers 2019/20."),
        ("The fiscal year 2022 saw a profit.", "FY22 saw a profit."),
        ("The contract ends on March 31, 2024.", "The contract ends on 03/31/2024."),
        ("The contract ends on 31 March 2024.", "The contract ends on 31/03/2024."),
        ("The contract ends on 31 March 2024.", "The contract ends on 3/31/24."),
        ("The meeting is on June 3, 2024.", "The meeting is on 6/3/2024."),
        ("The meeting is on 3 June 2024.", "The meeting is on 06/03/2024."),
        ("The meeting is on 3 June 2024.", "The meeting is on 2024/06/03."),
        ("The backup ran on March 31, 2024.", "The backup ran on 2024-03-31T10:00:00Z."),
        ("The museum opened on 3 March 2020.", "El museo abrió el 3 de marzo de 2020."),
        ("The museum opened on 3 March 2020.", "Le musée a ouvert le 3 mars 2020."),
        ("The museum opened on 3 May 2020.", "Le musée a ouvert le 3 mai 2020."),
        ("The share rose to 3.5 percent.", "The share (in percent) rose to 3.5. Then it fell."),
        ("Der Anteil betrug 12,5 Prozent.", "Der Anteil (in Prozent) betrug 12.5. Danach sank er."),
        ("Das Fest ist am 3. Mai.", "Das Fest ist am 3.5. um acht Uhr."),
        ("The deposit is 150 euros.", "The deposit is one hundred and fifty euros."),
        ("The deposit is 2,500 euros.", "The deposit is two thousand five hundred euros."),
        ("The deposit is 150,000 euros.", "The deposit is one hundred and fifty thousand euros."),
        ("The fee is 12 euros.", "The fee is a dozen euros."),
        ("The fee is 100 euros.", "The fee is a hundred euros."),
        ("Die Reise dauert 25 Tage.", "Die Reise dauert fünfundzwanzig Tage."),
        ("Der Saal hat 250 Plätze.", "Der Saal hat zweihundertfünfzig Plätze."),
        ("Le délai est de 20 jours.", "Le délai est de vingt jours."),
        ("El plazo es de 35 días.", "El plazo es de treinta y cinco días."),
        ("Il termine è di 21 giorni.", "Il termine è di ventuno giorni."),  # not read, and so not told
        ("It takes 90 minutes.", "It takes an hour and a half."),
        ("It takes 90 minutes.", "It takes 1½ hours."),
        ("The rate is 2.5 percent.", "The rate is 2 1/2 percent."),
        ("The city has 120 million inhabitants.", "该市有1.2亿居民。"),
        ("The budget is 1,234 francs.", "Das Budget beträgt 1’234 Franken."),
        ("World War 1 ended the empire.", "World War I ended the empire."),
        ("It was built in the 12th century.", "It was built in the XII century."),
        ("It was built in the 21st century.", "It was built in the twenty-first century."),
        ("Water boils at 100 degrees Celsius.", "Water boils at 100 °C."),
        ("The Python 3 interpreter is required.", "Python3 is required as interpreter."),
        ("The store opens at 3:30 PM.", "The store opens at 15:30."),
        ("The store opens at 15:30.", "The store opens at 3:30pm."),
    ],
)
def test_one_number_in_two_spellings_contradicts_nothing(claim: str, text: str) -> None:
    assert state(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("The fund holds 6 m euros.", "The fund holds 5 million euros.", "6"),
        ("The fund holds 5 billion euros.", "The fund holds 5 m euros.", "5 billion euros"),
        ("The tower is 330 feet tall.", "The tower is 330 m tall.", "330 feet"),
        ("One in four households has a cat.", "Of all households 20 % have a cat.", "One in four"),
        ("Half of the seats were sold.", "40 percent of the seats were sold.", "Half"),
        ("The dough rests for half an hour.", "The dough rests for 45 minutes.", "half"),
        ("The notice period is two weeks.", "The notice period is 10 days.", "two weeks"),
        ("The rate is £0.55 a mile.", "The rate is 45p a mile.", "£0.55"),
        ("The pump bears 16 bar (about 300 psi).", "The pump bears 16 bar.", "300 psi"),
        ("The village has 2,019 inhabitants.", "The village has 2.018 inhabitants.", "2,019"),
        ("Chamber III meets in Rome.", "The second chamber meets in Rome.", "III"),
        ("The firm was founded on 2021-04-05.", "The firm was founded on 5 March 2021.", "2021-04-05"),
        ("The firm was founded on 2021-03-06.", "The firm was founded on 5 March 2021.", "2021-03-06"),
        ("Die Firma besteht seit dem 06.03.2021.", "Die Firma besteht seit dem 5. März 2021.", "06.03.2021"),
        ("About 50 people came.", "71 people came.", "50"),
        ("The share rose by 8 percentage points.", "The share rose by 8%.", "8 percentage points"),
        ("The price is 45 euros.", "The price is $45.", "45 euros"),
        ("The coil weighs 12 g.", "The coil weighs 12 kg.", "12 g"),
        ("Twenty-six people came.", "25 people came.", "Twenty-six"),
        ("The third chamber has seats.", "The second chamber has seats.", "third"),
        ("苏格兰议会由128名议员组成", "苏格兰议会由129名议员组成。", "128"),
        ("The war lasted from 1914 to 1919.", "The war of 1914–18 lasted long.", "1919"),
        ("The contract ends on April 31, 2024.", "The contract ends on 03/31/2024.", "April"),
        ("The contract ends on 30 March 2024.", "The contract ends on 31/03/2024.", "30"),
        ("Le musée a ouvert le 3 avril 2020.", "Le musée a ouvert le 3 mars 2020.", "avril"),
        (
            "The share rose to 4.5 percent.",
            "The share (in percent) rose to 3.5. Then it fell.",
            "4.5 percent",
        ),
        ("The deposit is 150 euros.", "The deposit is one hundred and sixty euros.", "150 euros"),
        ("Die Reise dauert 26 Tage.", "Die Reise dauert fünfundzwanzig Tage.", "26 Tage"),
        ("It takes 80 minutes.", "It takes 1½ hours.", "80 minutes"),
        ("World War 3 ended the empire.", "World War I ended the empire.", "3"),
        ("The store opens at 16:30.", "The store opens at 3:30 PM.", "16"),
    ],
)
def test_another_number_contradicts_and_is_told_as_it_was_written(
    claim: str, text: str, missing: str
) -> None:
    assert judgement_of(claim, text).missing == (missing,)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Invoice 12345 is due.", "Invoice No. 12345 is due."),
        ("Regulation (EU) 2016/679 protects data.", "Regulation (EU) No 2016/679 protects data."),
        ("The serif font is used for headings.", "The sans serif font is used for headings."),
        ("Der Preis stieg im Mai stark.", "Der Preis stieg stark."),
    ],
)
def test_a_number_a_font_and_a_month_deny_nothing(claim: str, text: str) -> None:
    assert denials(claim) == denials(text) == []


def test_there_are_none_is_a_denial_before_numbers_too() -> None:
    assert denials("There are no 24 seats. No 3rd-party tools. Non è mai vero.") == ["no", "no", "non", "mai"]


@pytest.mark.parametrize("piece", ["3", "3,", "3a", "1/2/", "3.5. ", "hundred ", "twenty and ", "I ", "A1-"])
def test_facts_of_anything_are_found_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        judgement_of(
            "The pump costs 12 euros in Berlin.", f"Pi is {piece * (size // len(piece))} and goes on."
        )
        return time.process_time() - started

    assert seconds(40_000) < 0.5 + 10 * seconds(8_000)


def test_a_small_count_in_letters_may_be_the_writers_own() -> None:
    text = "The fire was caused by lightning. The lamp was old."
    assert state("There were two causes: lightning and an old lamp.", text) == "unverified"
    assert state("There were 2 causes: lightning and an old lamp.", text) == "contradicted"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "On 3 May 1870, Ann Lee paid $5m.",
            ["number 3", "month May", "number 1870", "name Ann Lee", "number $5m"],
        ),
        ("One in five saw COVID-19.", ["number One in five", "name COVID-19"]),
        ("one hundred and two hundred and five", ["number one hundred", "number two hundred and five"]),
        ("Section 2A of the Act", ["name Section 2A", "name Act"]),
        ("nothing here", []),
    ],
)
def test_the_facts_of_a_text_stand_in_it_as_they_are_told(text: str, found: list[str]) -> None:
    facts = facts_of(text, "en")
    assert [f"{fact.kind} {fact.text}" for fact in facts] == found
    assert all(text[fact.start : fact.end] == fact.text for fact in facts)


def test_a_name_that_a_pdf_tears_is_not_missing() -> None:
    text = "Chairman of the Board of Direc tors, Chief Executive Officer and Pr esident Wendell P. Weeks"
    claim = "Wendell P. Weeks runs the company as its President."
    assert state(claim, text) in ("supported", "unverified")
    told = judgement_of("Edwin Sidents is Chairman of the Board and Chief Executive Officer.", text)
    assert told.missing == ("Edwin Sidents",)


BESIDE = "Net sales rose by $1,683 million in fiscal year 2022. They had fallen by $12 million before."
ROWS = """In millions | 2022 | 2021
Net sales | $ 14,544 | $ 12,861
Cost of sales | (11,724) | (10,129)
Gross profit | 2,820 | 2,732
Interest | (135) | (139)
Operating income | 1,239 | 1,321"""


def test_a_figure_of_a_row_is_there_though_text_beside_has_others() -> None:
    claim = "Amcor's net sales for fiscal year 2022 were $14,544 million."
    assert not judgement_of(claim, BESIDE, ROWS).missing
    assert judgement_of(claim.replace("14,544", "1,239"), BESIDE, ROWS).missing == ("$1,239 million",)


def test_no_answers_a_question_and_denies_nothing_by_itself() -> None:
    text = "restic does not have a built-in way of scheduling backups."
    assert state("No, restic does not have a built-in way of scheduling backups.", text) == "supported"
    assert judgement_of("No, restic has a built-in way of scheduling backups.", text).missing == ("not",)
