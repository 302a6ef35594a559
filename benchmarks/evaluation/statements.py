"""Questions for the figures of statements of accounts, as people type them, with what the statements say.

    python -m benchmarks.evaluation.statements FOLDER NAMES QUESTIONS.jsonl [--seed N]
    python manage.py evaluate --collection NAME --answers QUESTIONS.jsonl

FOLDER holds 10-Ks as FinanceBench has them (github.com/patronus-ai/financebench: COMPANY_YEAR_10K.pdf). NAMES
tells what to call the companies ("NETFLIX=Netflix,BESTBUY=Best Buy"). Needs `pdftotext` of poppler: another
program than Knowlex reads the figures. For each filing at most nine questions for a figure of its income
statement, balance sheet or cash flows, and two for a year that it does not have; six for absent companies.
"""

import argparse
import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ITEMS = {  # what is asked for: the rows that say it
    "total revenue": r"(total )?(net )?(revenues?|sales|operating revenues)( and other income)?",
    "net income": r"(consolidated )?net (income|earnings)( \(loss\))?( attributable to (?!.*noncont).*)?",
    "operating income": r"((total )?operating (income|profit)|income from operations)( \(loss\))?",
    "total assets": r"total assets",
    "cash and cash equivalents": r"cash and (cash )?equivalents",
    "inventories": r"(merchandise )?inventor(ies|y)(, net)?",
    "accounts payable": r"(trade )?accounts payable",
    "research and development expenses": r"research(,| and) development(, net| expenses?| and engineering)?",
    "cost of sales": r"(total )?cost of (sales|revenues?|merchandise|goods sold)( \(.*\))?",
    "total liabilities": r"total liabilities",
    "goodwill": r"goodwill(, net)?",
    "interest expense": r"interest expense.*",
    "long-term debt": r"long-term debt(,.*)?",
    "capital expenditures": r"(purchases? of|additions? to|payments for( acquisition of)?) (property|land).*",
    "net cash from operating activities": r"net cash (provided|generated)( by| from)? operating activities",
}
FORMS = (
    "What was {company}'s {item} in {year}?",
    "What was the {item} of {company} in fiscal {year}?",
    "{company} {item} {year}",
    "{company}'s {item} in fiscal year {year}?",
    "What {item} did {company} report for {year}?",
)
OWN_WORDS = frozenset(
    {"total revenue", "cost of sales"}
)  # asked for as the filing says: they are several things
FLOWS = frozenset({"inventories", "accounts payable"})  # in the cash flows: how much they changed
STATEMENT = re.compile(
    r"consolidated (statements? of (operations|income|earnings|cash)|balance sheets?)"
    r"|statement of (financial position|operations)"
    r"|^\s*(income statements|balance sheets|cash flows statements)",
    re.MULTILINE,
)
NO_STATEMENT = re.compile(r"selected|free cash flow|share-based|note |no material|adjustments")
FIGURE = re.compile(r"\(?\d[\d,.]*[)%]*")
YEARS, ITEMS_OF_ONE, SILENT_OF_ONE, FIGURES = 3, 9, 2, 20
ABSENT = ("Siemens", "Toyota", "Ford", "Intel", "Caterpillar", "Starbucks")


def rows_of(path: Path) -> dict[str, tuple[str, list[str], int]]:
    """Return by item the first row of the statements that says it, its figures, and its page from 1."""
    text = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, check=True
    ).stdout.decode()
    found: dict[str, tuple[str, list[str], int]] = {}
    for number, page in enumerate(text.split("\f"), start=1):
        head = " ".join(page[:900].lower().split())
        if not STATEMENT.search(page[:900].lower()) or NO_STATEMENT.search(head[:150]):
            continue
        if len(re.findall(r"\d,\d{3}", page)) < FIGURES:
            continue
        for line in page.splitlines():
            name, *cells = [part.strip() for part in re.split(r"\s{2,}|\$|\.{3,}", line.strip())] or [""]
            cells = [cell for cell in cells if cell.strip(" .)")]
            if not cells or not all(map(FIGURE.fullmatch, cells)):
                continue
            name = name.strip(" .:").lower()
            for item, said in ITEMS.items():
                of_flows = item in FLOWS and "cash flows" in head
                if re.fullmatch(said, name) and not of_flows:
                    found.setdefault(item, (name, [cell.strip("()") for cell in cells], number))
    return found


def questions_of(path: Path, company: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    latest, rows = int(path.stem.split("_")[1]), rows_of(path)
    places = [(item, back) for item, (_, cells, _) in rows.items() for back in range(min(len(cells), YEARS))]
    rng.shuffle(places)
    asked = dict(places[::-1])  # each item once
    for item in rng.sample(sorted(asked), min(ITEMS_OF_ONE, len(asked))):
        back, (name, cells, page) = asked[item], rows[item]
        said = re.sub(r" \(.*", "", name) if item in OWN_WORDS else item
        text = rng.choice(FORMS).format(company=company, item=said, year=latest - back)
        yield {
            "id": f"{path.stem}-{item}-{latest - back}",
            "question": text,
            "answers": [cells[back]],
            "answer_type": "number",
            "kind": "answerable",
            "document": path.name,
            "pages": [page],
        }
    for item in rng.sample(sorted(asked), min(SILENT_OF_ONE, len(asked))):
        text = rng.choice(FORMS).format(company=company, item=item, year=latest - rng.choice((9, 11, 12)))
        yield {"id": f"{path.stem}-{item}-silent", "question": text, "answers": [], "kind": "unanswerable"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    rng, names = random.Random(arguments.seed), dict(pair.split("=") for pair in arguments.names.split(","))
    asked = [
        one
        for path in sorted(arguments.folder.glob("*_10K.pdf"))
        for one in questions_of(path, names[path.stem.split("_")[0]], rng)
    ]
    for company in ABSENT:
        text = rng.choice(FORMS).format(company=company, item=rng.choice(list(ITEMS)), year=2018)
        asked.append({"id": f"absent-{company}", "question": text, "answers": [], "kind": "unanswerable"})
    arguments.out.write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    print(f"{len(asked)} questions, {sum(bool(one['answers']) for one in asked)} of them answerable")


if __name__ == "__main__":
    main()
