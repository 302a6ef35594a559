"""What a model says in words of its own, and whether the passage that it cites bears it out."""

import pytest

from rag.service.judging import SummaryJudge
from rag.types import Block
from rag_service import RAGService
from tests.provider import Provider

SAFETY = (
    "All personnel must wear protective eyewear and gloves when handling Class A chemicals. The safety"
    " protocols for handling chemicals apply in every laboratory."
)
VACATION = "The company vacation policy grants 25 days of paid vacation per year to every full-time employee."
LEASE = (
    "The landlord informs the tenant before he enters. The landlord pays for the roof, and the tenant pays "
    "for small repairs. Pets are permitted if the landlord agrees. Late payment is inexcusable."
)
LEAVE = "The company vacation policy grants every employee 25 days of paid vacation each year."
URLAUB = "Die Urlaubsregelung gewährt jedem Mitarbeiter 25 Tage bezahlten Urlaub im Jahr."
AUSGABEN = "Ausgaben über 500 Euro bedürfen der Genehmigung des Abteilungsleiters."
TRUE = [
    (LEAVE, "Employees get 25 days of paid vacation per year."),
    (LEAVE, "The company grants 25 days of paid vacation a year."),
    (URLAUB, "Mitarbeiter bekommen 25 Tage Urlaub."),
    (AUSGABEN, "Ausgaben über 500 Euro benötigen die Genehmigung des Abteilungsleiters."),
    (LEASE, "Tenants pay for small repairs."),
    (LEASE, "Late payment is not excusable."),
    (SAFETY, "Personnel handling Class A chemicals must wear protective eyewear and gloves at all times."),
    (SAFETY, "The safety protocols for handling chemicals include wearing protective eyewear and gloves."),
    (SAFETY, "Protective eyewear and gloves are mandatory for Class A chemicals."),
    (SAFETY, "Workers need eyewear and gloves."),
    (VACATION, "You are entitled to 25 vacation days."),
    (VACATION, "Full-time employees receive 25 paid vacation days per year."),
]
FALSE = [
    (LEAVE, "Employees get 25 days of paid vacation per month."),
    (LEAVE, "Employees get 25 days of paid vacation per company."),
    (URLAUB, "Mitarbeiter bekommen 30 Tage Urlaub."),
    (URLAUB, "Mitarbeiter bekommen keine 25 Tage Urlaub."),
    (URLAUB, "Mitarbeiter bekommen 25 Tage unbezahlten Urlaub."),
    (AUSGABEN, "Ausgaben über 500 Euro benötigen nicht die Genehmigung des Abteilungsleiters."),
    (AUSGABEN, "Ausgaben unter 500 Euro benötigen die Genehmigung des Abteilungsleiters."),
    (LEASE, "The tenant pays for the roof."),
    (LEASE, "Pets are permitted."),
    (LEASE, "The tenant informs the landlord."),
    (SAFETY, "Personnel may wear protective eyewear and gloves."),
    (SAFETY, "Personnel need not wear protective eyewear and gloves."),
    (SAFETY, "Workers are not required to wear gloves."),
    (SAFETY, "Personnel handling Class B chemicals must wear protective eyewear and gloves at all times."),
    (SAFETY, "Personnel handling Class A chemicals must wear protective helmets and gloves at all times."),
    (SAFETY, "Visitors must wear gloves when handling Class A chemicals."),
    (VACATION, "Employees get 30 days of paid vacation per year."),
    (VACATION, "The company offers 25 days of unpaid vacation per year."),
    (VACATION, "Part-time employees receive 25 days of paid vacation per year."),
    (VACATION, "Managers receive 25 days of paid vacation per year."),
]


def block_of(passage: str) -> Block:
    return Block(passage, (), "de" if passage in (URLAUB, AUSGABEN) else "en")


@pytest.mark.parametrize(("passage", "claim"), TRUE)
async def test_a_true_summary_is_supported(passage: str, claim: str):
    (verdict,) = await SummaryJudge().judge(claim, [block_of(passage)])
    assert verdict.support == "supported"
    assert passage[verdict.start : verdict.end].endswith(".")


@pytest.mark.parametrize(("passage", "claim"), FALSE)
async def test_a_false_one_is_not(passage: str, claim: str):
    (verdict,) = await SummaryJudge().judge(claim, [block_of(passage)])
    assert verdict.support is None


def test_the_documents_own_reply_is_an_answer(service: RAGService, ollama: Provider):
    said = "Personnel handling Class A chemicals must wear protective eyewear and gloves at all times"
    ollama.says(f"{said} [safety_manual.pdf, p.5]...")
    answer = service.query("What are the safety protocols for handling chemicals?")
    assert answer.answer == f"{said} [safety_manual.pdf, page 5]..."
    assert [citation.page for citation in answer.citations] == [5]
