"""Answers and refusals by language, on questions in the documents' own language and in others.

    python -m benchmarks.evaluation.languages FOLDER [--model NAME] [--half unseen] [--fit]

FOLDER holds question sets in SQuAD's form, `SET.LANGUAGE.json` (docs/evaluation.md names them). Each article
becomes a document, its paragraphs under its title. Half of the articles are for fitting; articles that share
a question, as translations do, are in the same half. A file `fit.txt` in FOLDER names the titles of those
that are for fitting, one a line: in a set that has any of them, all others are unseen. Each question is asked
of all documents of a set and a language (right, refused); those of the other half's documents are absent from
it; and once more without the chunks that hold the answer, where the article has others: then its document is
there and silent.
"""

import argparse
import asyncio
import json
import math
import random
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.evaluation.corpus import Corpus, read_passages
from benchmarks.evaluation.fit_reading import Read, print_scale, read_found
from benchmarks.evaluation.fit_reading import fit as fit_reading
from benchmarks.evaluation.fit_sentences import Asked as AskedSentences
from benchmarks.evaluation.fit_sentences import fit as fit_sentences
from benchmarks.evaluation.fit_sentences import traits_of
from benchmarks.evaluation.sets import holds, vectors_of
from benchmarks.evaluation.vectors import Vectors
from documents.text.languages import detect_language
from rag.citations import without_markers
from rag.context.fitting import assemble
from rag.context.selection import distinct
from rag.evaluation.question_files import parse_objects
from rag.evaluation.scoring import is_correct
from rag.evaluation.types import Case as QuestionCase
from rag.prompts import NOT_FOUND
from rag.relevance.assessment import Calibration, assess
from rag.relevance.features import Features, describe
from rag.relevance.fitting import Pair, fit
from rag.relevance.reliability import wilson
from rag.rerankers.sentence import SentenceReranker
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.synthesizers.sentence_reader import SHIPPED, SentenceReader
from rag.types.context import Context
from rag.types.question import Question
from rag.types.retrieval import Retrieval

REFUSED = 0.96  # of the questions that no document answers
THRESHOLD, TOP_K, CANDIDATES = 0.8, 5, 40
ARTICLES = {"en": 60}  # of a set and half, for the questions in four other languages; else
FEWER = 30
QUESTIONS = 120  # of a kind, set and half


@dataclass(frozen=True)
class Asked:
    """A question of a set. articles: those that hold its paragraph, by language, as (set, title)."""

    id: str
    text: str
    language: str
    answers: tuple[str, ...]
    document: str


@dataclass(frozen=True)
class QuestionSet:
    """One file: texts of documents by name, and the questions of them."""

    name: str
    language: str
    documents: Mapping[str, str]
    questions: Sequence[Asked]
    titles: Mapping[str, str]


def read_set(path: Path) -> QuestionSet:
    name, language, _ = path.name.split(".")
    documents: dict[str, str] = {}
    titles: dict[str, str] = {}
    questions: list[Asked] = []
    for number, article in enumerate(json.loads(path.read_text())["data"]):
        document = f"{name}-{language}-{number}.md"
        paragraphs = article["paragraphs"]
        titles[document] = article["title"]
        documents[document] = "\n\n".join(
            [f"# {article['title']}", *(" ".join(one["context"].split("\n")) for one in paragraphs)]
        )
        for one in paragraphs:
            for row in one["qas"]:
                answers = tuple(dict.fromkeys(answer["text"].strip() for answer in row["answers"]))
                questions.append(Asked(str(row["id"]), row["question"].strip(), language, answers, document))
    return QuestionSet(name, language, documents, questions, titles)


def halves(sets: Sequence[QuestionSet], for_fitting: Collection[str] = ()) -> dict[str, str]:
    """Return "fit" or "unseen" by document; documents that share a question's id go together.

    for_fitting: titles; a set that has any of them is halved by them.
    """
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            name = root[name]
        return name

    for one in sets:
        for question in one.questions:
            root[find(question.document)] = find(f"{one.name} {question.id}")

    def half(one: QuestionSet, name: str) -> str:
        if not set(for_fitting).isdisjoint(one.titles.values()):
            return "fit" if one.titles[name] in for_fitting else "unseen"
        return ("fit", "unseen")[zlib.crc32(find(name).encode()) % 2]

    return {name: half(one, name) for one in sets for name in one.documents}


@dataclass(frozen=True)
class Case:
    """A question asked of documents. kind: answerable, absent or silent. row: as `parse_objects` reads it."""

    asked: str
    of: str
    kind: str
    row: dict
    found: Retrieval

    @cached_property
    def is_found(self) -> bool:
        return any(holds(passage, self.row) for passage in self.found.passages[:TOP_K])

    @cached_property
    def is_first(self) -> bool:
        return any(holds(passage, self.row) for passage in self.found.passages[:1])

    @cached_property
    def _expected(self) -> QuestionCase:
        (case,) = parse_objects([{k: v for k, v in self.row.items() if k != "doc"}])
        return case

    @cached_property
    def _judged(self) -> Retrieval:
        return assess(self.row["question"], self.found, None)

    def context(self, found: Retrieval | None = None) -> Context:
        passages = list(distinct((found or self._judged).passages))[:TOP_K]
        return assemble([passage for passage in passages if passage.relevance >= THRESHOLD])

    def answer(self, synthesizer: ExtractiveSynthesizer) -> str:
        """Return what is said, as the pipeline has it said; "" for a refusal."""
        question, context = Question(self.row["question"], (UUID(int=1),), TOP_K), self.context()
        if not context.blocks:
            context = self.context(asyncio.run(synthesizer.read_passages(question, self._judged)))
        if not context.blocks:
            return ""
        said = without_markers(asyncio.run(synthesizer.synthesize(question, context)).text)
        return "" if said == NOT_FOUND else said

    def read(self, reader: ExtractiveSynthesizer) -> Read:
        case = self._expected if self.kind == "answerable" else None
        setting = f"{self.asked} {self.of} {self.kind}"
        return read_found(setting, self.row["doc"], case, self.row["question"], self._judged, reader)

    def is_right(self, answer: str) -> bool:
        return is_correct(self._expected, answer)

    def sentences(self) -> AskedSentences:
        return traits_of("", self._expected, self.context())


class Bench:
    def __init__(self, folder: Path, vectors: Vectors, half: str) -> None:
        self._vectors, self._half = vectors, half
        self._sets = [read_set(path) for path in sorted(folder.glob("*.*.json"))]
        named = folder / "fit.txt"
        self._halves = halves(self._sets, named.read_text().splitlines() if named.exists() else ())
        self._corpora: dict[tuple[str, str, str], Corpus] = {}

    def cases(self) -> Iterator[Case]:
        for documents in self._sets:
            for questions in self._sets:
                if documents.name == questions.name and self._is_asked(documents, questions):
                    yield from self._asked(documents, questions)

    def _is_asked(self, documents: QuestionSet, questions: QuestionSet) -> bool:
        """Own language, of English documents in all others, and of German ones in English and Spanish."""
        return (
            documents.language in (questions.language, "en")
            or (documents.language, questions.language) in FOREIGN_PAIRS
        )

    def _asked(self, documents: QuestionSet, questions: QuestionSet) -> Iterator[Case]:
        corpus = self.corpus(documents)
        kept = {passage.document_name for passage in corpus.passages}
        there = {question.id: question for question in documents.questions if question.document in kept}
        rng = random.Random(7)
        answerable = [q for q in questions.questions if q.id in there]
        for q in _some(answerable, rng):
            target = there[q.id]
            yield self._case(corpus, q, documents.language, "answerable", target)
            holding = [n for n, p in enumerate(corpus.passages) if holds(p, _row(q, target))]
            rest = [n for n in range(len(corpus.passages)) if n not in set(holding)]
            if any(corpus.passages[n].document_name == target.document for n in rest) and holding:
                yield self._case(corpus, q, documents.language, "silent", target, rest)
        absent = [
            q for q in questions.questions if q.id not in there and self._halves[q.document] != self._half
        ]
        for q in _some(absent, rng):
            yield self._case(corpus, q, documents.language, "absent", q)

    def _case(
        self,
        corpus: Corpus,
        asked: Asked,
        of: str,
        kind: str,
        target: Asked,
        among: Sequence[int] | None = None,
    ) -> Case:
        found = corpus.retrieve(asked.text, among, CANDIDATES)
        question = Question(asked.text, (UUID(int=1),), TOP_K)
        ranked = asyncio.run(SentenceReranker().rerank(question, found))
        return Case(asked.language, of, kind, _row(asked, target), ranked)

    def corpus(self, documents: QuestionSet) -> Corpus:
        key = (documents.name, documents.language, self._half)
        if key not in self._corpora:
            names = [name for name in documents.documents if self._halves[name] == self._half][
                : ARTICLES.get(documents.language, FEWER)
            ]
            texts = {name: documents.documents[name] for name in names}
            with tempfile.TemporaryDirectory() as folder:
                files = []
                for name, text in texts.items():
                    files.append(Path(folder) / name)
                    files[-1].write_text(text)
                languages = {name: detect_language(text) for name, text in texts.items()}
                self._corpora[key] = Corpus(read_passages(files, languages), self._vectors)
        return self._corpora[key]


# (documents, question), besides those of English documents.
FOREIGN_PAIRS = {("de", "en"), ("de", "es"), ("es", "en"), ("zh", "en"), ("ar", "en")}


def _some(questions: Sequence[Asked], rng: random.Random) -> Sequence[Asked]:
    return questions if len(questions) <= QUESTIONS else rng.sample(list(questions), QUESTIONS)


def _row(asked: Asked, target: Asked) -> dict:
    answers = list(dict.fromkeys((*target.answers, *asked.answers)))
    return {
        "id": asked.id,
        "question": asked.text,
        "answers": answers,
        "answer_type": "span",
        "doc": target.document,
        "lang": target.language,
    }


def report(cases: Iterable[Case], synthesizer: ExtractiveSynthesizer) -> None:
    """Print the figures of each language of questions and of documents."""
    lines: defaultdict[tuple[str, str], defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        answer, figures = case.answer(synthesizer), lines[case.asked, case.of]
        if case.kind != "answerable":
            figures[case.kind].append(not answer)
            continue
        figures["hit@1"].append(case.is_first)
        figures["hit@5"].append(case.is_found)
        figures["right"].append(bool(answer) and case.is_right(answer))
        figures["refused"].append(not answer)
    columns = ("hit@1", "hit@5", "right", "refused", "absent", "silent")
    print(f"{'asked':8}{'of':5}{'n':>5}" + "".join(f"{name:>18}" for name in columns))
    for (asked, of), figures in sorted(lines.items(), key=lambda line: (line[0][0] != line[0][1], line[0])):
        cells = "".join(f"{_with_interval(figures[name]):>18}" for name in columns)
        print(f"{asked:8}{of:5}{len(figures['right']):5}{cells}")


SILENT = 0.1  # how much a question counts whose document is there and silent
ROUNDS = 4


def fit_weights(cases: Sequence[Case], *, without: Collection[str] = ()) -> Calibration:
    """Return weights that tell passages with the answer from the best ones of questions without one."""
    weights: Calibration | None = None
    described = [_strongest(case) for case in cases]
    for _ in range(ROUNDS):
        pairs = []
        for case, features in zip(cases, described, strict=True):
            if features:
                best = max(features, key=weights.probability) if weights else features[0]
                share = SILENT if case.kind == "silent" else 1.0
                pairs.append(Pair(best, case.kind == "answerable", share))
        weights = fit(pairs, without=without)
    assert weights is not None
    return weights


def _strongest(case: Case) -> list[Features]:
    """Return those of the ten strongest passages, of an answerable question only of those with the answer."""
    described = sorted(describe(case.row["question"], case.found), key=lambda one: -one.features.margin)[:10]
    wanted = case.kind == "answerable"
    return [one.features for one in described if not wanted or holds(one.passage, case.row)]


def level(cases: Sequence[Case], weights: Calibration) -> float:
    """Return what is to be added to the logit for `REFUSED` of the absent questions to be refused."""
    logits = [
        max(map(weights.logit, features), default=-9.0)
        for case in cases
        if case.kind == "absent" and (features := _strongest(case))
    ]
    return math.log(THRESHOLD / (1 - THRESHOLD)) - float(np.quantile(logits, REFUSED))


def report_fit(cases: Sequence[Case], synthesizer: ExtractiveSynthesizer) -> None:
    own = [case for case in cases if case.asked == case.of != "en"]
    foreign = [case for case in cases if case.asked != case.of]
    for name, some, without in (("own", own, ()), ("foreign", foreign, ("subject",))):
        weights = fit_weights(some, without=without)
        print(name, {key: round(value, 2) for key, value in asdict(weights).items()})
        traits = fit_sentences([case.sentences() for case in some if case.kind == "answerable"])
        print(name, "sentences", {key: round(value, 2) for key, value in traits._asdict().items()})
        for pair in sorted({(case.asked, case.of) for case in some}):
            print(pair, round(level([case for case in some if (case.asked, case.of) == pair], weights), 2))
        print_scale(fit_reading([case.read(synthesizer) for case in some]))


def _with_interval(outcomes: Sequence[bool]) -> str:
    interval = wilson(sum(outcomes), len(outcomes))
    return f"{np.mean(outcomes):.2f} ({interval[0]:.2f}-{interval[1]:.2f})" if interval else "-"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    parser.add_argument("--fit", action="store_true", help="print weights and levels, those of --half fit")
    parser.add_argument("--half", choices=("fit", "unseen"), default="unseen")
    parser.add_argument("--reader", type=Path, default=SHIPPED, help="folder of the sentence reader's model")
    parser.add_argument("--without-reading", action="store_true")
    arguments = parser.parse_args()
    vectors = vectors_of(arguments.model, arguments.models_dir, arguments.cache)
    cases = list(Bench(arguments.folder, vectors, "fit" if arguments.fit else arguments.half).cases())
    reader = None if arguments.without_reading else SentenceReader(arguments.reader, timeout_s=60)
    synthesizer = ExtractiveSynthesizer(reader=reader)
    report_fit(cases, synthesizer) if arguments.fit else report(cases, synthesizer)
    vectors.save()


if __name__ == "__main__":
    main()
