"""A web wrapper around RAGService, with FastAPI: `uvicorn samples.fastapi_wrapper:app`.

Set OLLAMA_HOST and VECTOR_STORE_URL to where Ollama and Chroma run; the other variables stand in the README.
`POST /query` with {"question": "...", "filters": {"source": "safety_manual.pdf"}}, `GET /health`.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from rag_service import Answer, RAGService, RAGServiceError

rag_service = RAGService(
    ollama_host=os.getenv("OLLAMA_HOST"),
    vector_store_url=os.getenv("VECTOR_STORE_URL"),
)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with rag_service:
        yield


app = FastAPI(title="RAG service", lifespan=lifespan)


class QueryRequest(BaseModel):
    question: str
    filters: dict[str, Any] | None = None


@app.exception_handler(RAGServiceError)
async def show_error(_: Request, exc: RAGServiceError) -> JSONResponse:
    return JSONResponse(exc.to_dict(), status_code=exc.http_status)


@app.post("/query")
async def query_endpoint(request: QueryRequest) -> Answer:
    return await rag_service.aquery(request.question, request.filters)


@app.get("/health")
async def health_endpoint(response: Response) -> dict[str, str]:
    health = await rag_service.ahealth_check()
    response.status_code = 503 if health["status"] == "unhealthy" else 200
    return health
