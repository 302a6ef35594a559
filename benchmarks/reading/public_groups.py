"""Makes groups of sentences for the reader's training out of public question sets, in any language.

    python -m benchmarks.reading.public_groups OUT.gz FILE.json ...

FILE is in SQuAD's form (ARCD, CMRC 2018 and DRCD are), in that of SelQA's answer sentence selection, or in
TAT-QA's. A paragraph's sentences become a group with its questions, and with one of another paragraph of the
article, which it is silent on unless it holds the answer; a table's cells one with those of its figures, and
each of these of an earlier year, which it does not tell. A twelfth of the articles is kept unseen.
"""

import argparse
import gzip
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from documents.text.languages import detect_language
from documents.text.sentences import sentence_spans

UNSEEN = 12  # one of so many articles
LEAST, MOST = 3, 14  # sentences of a paragraph
LONGEST = 600  # characters of a sentence
_AMOUNT = re.compile(r"(?!(?:19|20)\d\d\Z)[(\s$€£-]*\d[\d,]*(?:\.\d+)?\)?\s*%?\Z")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LEAD = re.compile(r"^[\s\-–]+")  # ARCD's questions have it

Row = dict[str, object]


def groups_of_squad(data: Sequence[dict]) -> Iterator[Row]:
    for article in data:
        title = article.get("title", "")
        paragraphs = article["paragraphs"]
        for number, paragraph in enumerate(paragraphs):
            text = paragraph["context"]
            spans = sentence_spans(text)
            told = [text[start:end].strip() for start, end in spans]
            if not LEAST <= len(told) <= MOST or max(map(len, told)) > LONGEST:
                continue
            questions = []
            for asked in paragraph["qas"]:
                right = {_place_of(answer["answer_start"], spans) for answer in asked["answers"]} - {None}
                if not right:
                    continue
                words = [answer["text"] for answer in asked["answers"]]
                arguable = [n for n, one in enumerate(told) if n not in right and _holds_any(one, words)]
                questions.append([_LEAD.sub("", asked["question"]), sorted(right), arguable])
            other = paragraphs[(number + 1) % len(paragraphs)]["qas"]
            if len(paragraphs) > 1 and other:
                asked = other[number % len(other)]
                if not _holds_any(text, [answer["text"] for answer in asked["answers"]]):
                    questions.append([_LEAD.sub("", asked["question"]), [], []])
            if questions:
                yield _group(title, title or text[:80], told, questions)


def groups_of_selqa(data: Sequence[dict]) -> Iterator[Row]:
    together = defaultdict(list)
    for row in data:
        together[row["article"], tuple(row["candidates"])].append([row["question"], row["answers"], []])
    for (article, told), questions in together.items():
        if len(told) >= LEAST and max(map(len, told)) <= LONGEST:
            yield _group(article, article, told, questions)


def groups_of_tatqa(data: Sequence[dict]) -> Iterator[Row]:
    """Yield groups of what one sentence or cell answers; what has to be computed is left out."""
    for report in data:
        asked = [one for one in report["questions"] if one["answer_type"] == "span" and one["answer"]]
        text = "\n\n".join(one["text"] for one in sorted(report["paragraphs"], key=lambda one: one["order"]))
        told = [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
        questions = []
        for one in asked:
            (answer,) = one["answer"]
            right = [n for n, sentence in enumerate(told) if answer in sentence]
            if "text" in one["answer_from"] and len(right) == 1:
                questions.append([one["question"], right, []])
        if questions:
            yield _group("", text, told, questions)
        if table := _table_of(report["table"]["table"], asked):
            yield {**table, "name": "", "unseen": zlib.crc32(text.encode()) % UNSEEN == 0}


def _table_of(cells: Sequence[Sequence[str]], asked: Sequence[dict]) -> Row | None:
    heads = list(takewhile(lambda row: not any(map(_AMOUNT.match, row[1:])), cells))
    rows = [row for row in cells[len(heads) :] if any(map(_AMOUNT.match, row[1:]))]
    while heads and not any(heads[-1][1:]):
        heads.pop()  # of the rows below it
    labels = [" ".join(filter(None, column)) for column in zip(*heads, strict=False)]
    title, *columns = labels or [""]
    questions = []
    for one in asked:
        right = [
            [row, column]
            for row, line in enumerate(rows)
            for column, cell in enumerate(line)
            if column and one["answer"][0].strip("$ ") == cell.strip("$ ")
        ]
        years = _YEAR.findall(one["question"])
        if not _AMOUNT.match(one["answer"][0]) or len(right) != 1:
            continue
        questions.append([one["question"], right, []])
        earlier = str(min(map(int, _YEAR.findall(f"{cells} {years}")), default=0) - 1)
        if len(years) == 1:
            questions.append([one["question"].replace(years[0], earlier), [], []])
    return {"title": title, "columns": columns, "rows": rows, "questions": questions} if questions else None


def _group(heading: str, key: str, told: Sequence[str], questions: list) -> Row:
    return {
        "name": "",
        "english": detect_language(" ".join(told)) == "en",
        "sentences": [{"heading": heading, "text": one} for one in told],
        "questions": questions,
        "unseen": zlib.crc32(key.encode()) % UNSEEN == 0,
    }


def _place_of(start: int, spans: Sequence[tuple[int, int]]) -> int | None:
    return next((n for n, (first, last) in enumerate(spans) if first <= start < last), None)


def _holds_any(text: str, words: Sequence[str]) -> bool:
    return any(word.casefold() in text.casefold() for word in words)


def _groups_of(found: dict | list) -> Iterator[Row]:
    if isinstance(found, dict):
        return groups_of_squad(found["data"])
    return groups_of_tatqa(found) if "table" in found[0] else groups_of_selqa(found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    with gzip.GzipFile(arguments.out, "wb", mtime=0) as out:
        for path in arguments.files:
            found = json.loads(path.read_text(encoding="utf-8-sig"))
            rows = list(_groups_of(found))
            for row in rows:
                out.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
            print(f"{path.name}: {len(rows)} groups, {sum(len(row['questions']) for row in rows)} questions")  # type: ignore[arg-type,misc]


if __name__ == "__main__":
    main()
