"""Qdrant and Chroma on the same vectors, each as its makers set it up; run in an environment that has them.

    python benchmarks/vector_engines.py qdrant|chroma VECTORS.npy QUESTIONS.npy FOLDER

Qdrant is its own engine in this process (qdrant-edge-py), Chroma its own local engine. Neither pays for a
server or a wire, as PostgreSQL does. Prints one line of JSON: what was found, and at what cost.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

K, MARKED_ONE_IN = 10, 100
Search = Callable[[list[float], bool], list[int]]


def qdrant(vectors: Any, folder: Path) -> Search:
    import qdrant_edge as q

    size = vectors.shape[1]
    config = q.EdgeConfig(vectors=q.EdgeVectorParams(size=size, distance=q.Distance.Cosine))
    shard = q.EdgeShard.create(str(folder), config)
    for start in range(0, len(vectors), 1000):
        points = [
            q.Point(n, vectors[n].tolist(), {"marked": "no" if n % MARKED_ONE_IN else "yes"})
            for n in range(start, min(start + 1000, len(vectors)))
        ]
        shard.update(q.UpdateOperation.upsert_points(points))
    shard.update(q.UpdateOperation.create_field_index("marked", q.PayloadSchemaType.Keyword))
    shard.optimize()
    marked = q.Filter(must=[q.FieldCondition(key="marked", match=q.MatchValue(value="yes"))])

    def search(vector: list[float], filtered: bool) -> list[int]:
        query = q.Query.Nearest(vector)
        request = q.QueryRequest(limit=K, query=query, filter=marked if filtered else None)
        return [point.id for point in shard.query(request)]

    return search


def chroma(vectors: Any, folder: Path) -> Search:
    import chromadb

    client = chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection(
        "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for start in range(0, len(vectors), 1000):
        ids = range(start, min(start + 1000, len(vectors)))
        collection.add(
            ids=[str(n) for n in ids],
            embeddings=vectors[start : start + 1000],
            metadatas=[{"marked": n % MARKED_ONE_IN == 0} for n in ids],
        )

    def search(vector: list[float], filtered: bool) -> list[int]:
        where = {"marked": True} if filtered else None
        found = collection.query(query_embeddings=[vector], n_results=K, where=where, include=["distances"])
        return [int(n) for n in found["ids"][0]]

    return search


def main() -> None:
    name, vectors_file, questions_file, folder = sys.argv[1:]
    vectors = np.load(vectors_file).astype(np.float32)
    questions = np.load(questions_file).astype(np.float32)
    before = time.process_time()
    search = {"qdrant": qdrant, "chroma": chroma}[name](vectors, Path(folder))
    report: dict[str, Any] = {"build_cpu_s": time.process_time() - before}
    for filtered in (False, True):
        search(questions[0].tolist(), filtered)
        found, times, before = [], [], time.process_time()
        for question in questions.tolist():
            started = time.perf_counter()
            found.append(search(question, filtered))
            times.append((time.perf_counter() - started) * 1000)
        cpu_ms = (time.process_time() - before) / len(questions) * 1000
        report["filtered" if filtered else "all"] = {
            "found": found, "cpu_ms": cpu_ms, "p50_ms": statistics.median(times),
        }  # fmt: skip
    print(json.dumps(report))


if __name__ == "__main__":
    main()
