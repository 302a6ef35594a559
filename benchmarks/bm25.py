"""How well BM25, the vectors and both together rank a BEIR folder, beside bm25s on the same chunks.

    python -m benchmarks.bm25 FOLDER [--bench-python .bench/bin/python]

FOLDER holds corpus.jsonl, queries.jsonl and qrels.tsv. The documents go in as texts by `POST /v1/ingest` and
are found by `POST /v1/search`, in a stack of its own; documents are ranked by their best chunk. bm25s runs in
the environment of the other frameworks, with its English stop words and the Snowball stemmer.
"""

import argparse
import csv
import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support import environment

environment.set_environment()

from rag.evaluation.metrics import GradedRanking, ndcg
from tests.support.postgres import Postgres
from tests.support.stack import Stack

A_REQUEST = 50
DEPTH = 50
SETTINGS: dict[str, dict[str, Any]] = {
    "sparse": {"mode": "sparse"},
    "dense": {"mode": "dense"},
    "hybrid, not reranked": {"mode": "hybrid", "rerank": False},
    "hybrid": {"mode": "hybrid"},
}
Grades = Mapping[str, Mapping[str, int]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bench-python", default="", help="has bm25s and PyStemmer")
    options = parser.parse_args()
    grades = _grades(options.folder / "qrels.tsv")
    queries = {line["_id"]: line["text"] for line in _lines(options.folder / "queries.jsonl")}
    queries = {id_: text for id_, text in queries.items() if grades.get(id_)}
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with Stack(postgres, environment.FOLDER / "bm25", workers=2, env={}) as stack:
            document_of = _ingest(stack, list(_lines(options.folder / "corpus.jsonl")))
            if options.bench_python:
                _tell("bm25s, same chunks", _bm25s(stack, queries, document_of, options.bench_python), grades)
            for name, settings in SETTINGS.items():
                started = time.perf_counter()
                rankings = {id_: _search(stack, text, settings, document_of) for id_, text in queries.items()}
                seconds = (time.perf_counter() - started) / len(queries)
                _tell(f"{name} ({seconds * 1e3:.0f} ms a question)", rankings, grades)
    finally:
        postgres.stop()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        yield from map(json.loads, file)


def _grades(path: Path) -> Grades:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open() as file:
        for query, document, score in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(score) > 0:
                grades[query][document] = int(score)
    return grades


def _ingest(stack: Stack, corpus: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Our document ids -> theirs."""
    document_of = {}
    for start in range(0, len(corpus), A_REQUEST):
        some = [line for line in corpus[start : start + A_REQUEST] if line["text"].strip()]
        sources = [
            {
                "type": "text",
                "content": f"{line['title']}\n\n{line['text']}",
                "filename": f"{line['_id']}.txt",
            }
            for line in some
        ]
        body = {"collection_id": "default", "documents": [{"source": source} for source in sources]}
        job = stack.client.post("/v1/ingest", json=body).raise_for_status().json()["job_id"]
        report: dict[str, Any] = {}
        while report.get("status") not in ("completed", "failed"):
            report = stack.client.get(f"/v1/ingest/{job}", params={"wait": 60}).raise_for_status().json()
        for line, document in zip(some, report["documents"], strict=True):
            document_of[document["id"]] = line["_id"]
    chunks = stack.count("embeddings_lexicalentry")
    print(f"{len(document_of)} documents, {chunks} chunks", flush=True)
    return document_of


def _search(
    stack: Stack, text: str, settings: Mapping[str, Any], document_of: Mapping[str, str]
) -> list[str]:
    body = {"query": text, "settings": {"top_k": DEPTH, **settings}}
    found = stack.client.post("/v1/search", json=body).raise_for_status().json()["results"]
    return [document_of[result["document_id"]] for result in found]


def _bm25s(
    stack: Stack, queries: Mapping[str, str], document_of: Mapping[str, str], python: str
) -> dict[str, list[str]]:
    rows = stack.sql("SELECT document_id::text AS document, content FROM documents_chunk ORDER BY id")
    given = {"chunks": [row["content"] for row in rows], "queries": list(queries.values()), "depth": DEPTH}
    script = Path(__file__).with_name("bm25s_ranking.py")
    done = subprocess.run(
        [python, str(script)], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    places = json.loads(done.stdout)
    return {
        id_: [document_of[rows[place]["document"]] for place in found]
        for id_, found in zip(queries, places, strict=True)
    }


def _tell(name: str, rankings: Mapping[str, Sequence[str]], grades: Grades) -> None:
    values = []
    for query, documents in rankings.items():
        gains = tuple(float(grades[query].get(document, 0)) for document in dict.fromkeys(documents))
        ideal = tuple(sorted(map(float, grades[query].values()), reverse=True))
        values.append(ndcg(GradedRanking(gains, ideal)))
    print(f"{name:45} nDCG@10 {sum(values) / len(values):.3f}", flush=True)


if __name__ == "__main__":
    main()
