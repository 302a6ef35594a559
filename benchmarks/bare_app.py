"""What a few lines of FastAPI do: the same embedding, the same search, the model, its reply as it is.

    python benchmarks/bare_app.py QUESTIONS.json --fd 3     (in the environment of requirements-bench.txt)

No relevance, no ranking of sentences, no checked citations, no record, no deadline, no limits.
QUESTIONS.json: `database`, `model` (base URL), `graph` and `tokenizer` of the embedder, the `statement`, its
`parameters` by question, without the vector, and the `setup` of a connection for it.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import onnxruntime
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from tokenizers import Tokenizer

CONNECTIONS, TOP_K = 8, 5
PROMPT = "Answer from these passages, naming them as [n].\n\n{blocks}\n\nQuestion: {question}"


class Embedder:
    """A graph of sentence-transformers' kind: the mean of the tokens' vectors, of length 1."""

    def __init__(self, graph: str, tokenizer: str) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.x64quantprecision", "1")
        self._session = onnxruntime.InferenceSession(graph, options, ["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_str(tokenizer)

    def embed(self, text: str) -> str:
        """As PostgreSQL reads it."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        vector = self._session.run(None, {"input_ids": ids})[0][0].mean(axis=0)
        return str((vector / np.linalg.norm(vector)).tolist())


def build(given: dict[str, Any]) -> FastAPI:
    embedder = Embedder(given["graph"], given["tokenizer"])

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        how = {"autocommit": True, "row_factory": dict_row, "options": "-c enable_seqscan=off"}
        pool = AsyncConnectionPool(
            given["database"], kwargs=how, open=False, min_size=CONNECTIONS, max_size=CONNECTIONS, timeout=60,
            configure=set_up,
        )  # fmt: skip
        async with pool, aiohttp.ClientSession(connector=connector) as session:
            app.state.pool, app.state.session = pool, session
            yield

    app = FastAPI(lifespan=lifespan)

    async def set_up(connection: AsyncConnection[Any]) -> None:
        for statement in given["setup"]:
            await connection.execute(statement)

    async def found(question: str) -> list[dict[str, Any]]:
        vector = await asyncio.to_thread(embedder.embed, question)
        asked = given["parameters"][question] | {"vector": vector}
        async with app.state.pool.connection() as connection:
            cursor = await connection.execute(given["statement"], asked)
            return (await cursor.fetchall())[:TOP_K]

    def model(question: str, rows: list[dict[str, Any]], *, stream: bool) -> Any:
        blocks = "\n\n".join(f"[{n}] {row['content']}" for n, row in enumerate(rows, start=1))
        message = {"role": "user", "content": PROMPT.format(blocks=blocks, question=question)}
        body = {"model": "m", "messages": [message], "stream": stream}
        return app.state.session.post(f"{given['model']}/chat/completions", json=body)

    @app.post("/ask")
    async def ask(request: Request) -> Any:
        question = (await request.json())["query"]
        rows = await found(question)
        if request.headers.get("accept") == "text/event-stream":
            return StreamingResponse(streamed(question, rows), media_type="text/event-stream")
        async with model(question, rows, stream=False) as reply:
            said = (await reply.json())["choices"][0]["message"]["content"]
        return JSONResponse({"query": question, "answer": said, "sourceChunks": _chunks(rows)})

    async def streamed(question: str, rows: list[dict[str, Any]]) -> AsyncIterator[bytes]:
        async with model(question, rows, stream=True) as reply:
            async for line in reply.content:
                if line.startswith(b"data: {") and (choices := json.loads(line[6:])["choices"]):
                    text = choices[0]["delta"].get("content", "")
                    yield b"event: token\ndata: " + json.dumps({"text": text}).encode() + b"\n\n"
        yield b"event: done\ndata: " + json.dumps({"sourceChunks": _chunks(rows)}).encode() + b"\n\n"

    return app


def _chunks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"chunkId": str(row["chunk_id"]), "content": row["content"], "score": row["distance"]} for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("questions", type=Path)
    parser.add_argument("--fd", type=int, required=True)
    options = parser.parse_args()
    app = build(json.loads(options.questions.read_text()))
    config = uvicorn.Config(app, fd=options.fd, access_log=False, log_level="warning", loop="uvloop")
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
