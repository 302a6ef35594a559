"""Qdrant's REST over the local mode of its own client: a server for tests, as no binary of Qdrant's is in any
package index. `python -m tests.support.qdrant_bridge --path FOLDER --port PORT [--api-key KEY]`.

Local mode searches exactly and keeps its points in SQLite, so they survive a kill. The bridge is as strict as
the real server, and stricter: bodies are read by the client's own models of the REST interface, which refuse
unknown fields; parameters in the URL, ids, sizes and limits are checked; errors have the server's statuses
and form. `POST /_faults` makes requests misbehave: {"fault", "path", "times", "seconds"}, [] for none.
"""

import argparse
import asyncio
import json
import time
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from aiohttp import web
from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client.http import models
from qdrant_client.local.qdrant_local import QdrantLocal

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MOST_BYTES = 32 * 1024 * 1024
BARRED = set('<>:"/\\|?*\0')
PARAMETERS = {"wait", "ordering", "timeout", "consistency"}
HUGE = 1024 * 1024


class Wrong(Exception):
    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status, self.told = status, told


class Bridge:
    def __init__(self, folder: Path, api_key: str) -> None:
        self._local = QdrantLocal(str(folder / "points"), force_disable_check_same_thread=True)
        for collection in self._local.collections.values():
            _hasten(collection)
        self._indexes_file, self._api_key = folder / "indexes.json", api_key
        kept = self._indexes_file.read_text() if self._indexes_file.exists() else "{}"
        self._indexes: dict[str, dict[str, Any]] = json.loads(kept)
        self._faults: list[dict[str, Any]] = []
        self._log: list[str] = []

    def application(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[self._answer])
        app.router.add_get("/healthz", self._healthy)
        app.router.add_get("/collections", self._collections)
        app.router.add_post("/_faults", self._set_faults)
        app.router.add_get("/_log", self._tell_log)
        one = "/collections/{name}"
        app.router.add_get(one, self._collection)
        app.router.add_put(one, self._create)
        app.router.add_delete(one, self._delete_collection)
        app.router.add_put(one + "/index", self._index)
        app.router.add_put(one + "/points", self._upsert)
        app.router.add_post(one + "/points/query", self._query)
        app.router.add_post(one + "/points/delete", self._delete)
        app.router.add_post(one + "/points/scroll", self._scroll)
        app.router.add_post(one + "/points/count", self._count)
        return app

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The key, the faults, and errors as Qdrant tells them."""
        if request.path in ("/_faults", "/_log", "/healthz"):
            return await handler(request)
        self._log.append(f"{request.method} {request.path}")
        if self._api_key and request.headers.get("api-key") != self._api_key:
            return web.Response(status=401, text="Must provide an API key or an Authorization bearer token")
        fault = self._fault(request)
        if fault is not None and (spoilt := await _before(fault, request)) is not None:
            return spoilt
        started = time.perf_counter()
        try:
            unknown = set(request.query) - PARAMETERS
            if unknown:
                raise Wrong(400, f"Format error in query parameters: unknown {sorted(unknown)}")
            response = await handler(request)
        except Wrong as exc:
            told = {"status": {"error": exc.told}, "time": time.perf_counter() - started}
            return web.json_response(told, status=exc.status)
        return response if fault is None else await _after(fault, request, response)

    def _fault(self, request: web.Request) -> dict[str, Any] | None:
        for fault in self._faults:
            if fault.get("path", "") in request.path and fault.get("times", 1) > 0:
                fault["times"] = fault.get("times", 1) - 1
                return fault
        return None

    async def _set_faults(self, request: web.Request) -> web.Response:
        self._faults, self._log = await request.json(), []
        return web.json_response({})

    async def _tell_log(self, _: web.Request) -> web.Response:
        return web.json_response(self._log)

    async def _healthy(self, _: web.Request) -> web.Response:
        return web.Response(text="healthz check passed")

    async def _collections(self, _: web.Request) -> web.Response:
        return _result(self._local.get_collections())

    async def _collection(self, request: web.Request) -> web.Response:
        name = self._existing(request)
        info = self._local.get_collection(name).model_dump(mode="json", exclude_none=True)
        info["payload_schema"] = {
            field: {"data_type": schema if isinstance(schema, str) else schema["type"], "points": 0}
            for field, schema in self._indexes.get(name, {}).items()
        }
        return _result(info)

    async def _create(self, request: web.Request) -> web.Response:
        name, body = request.match_info["name"], await _body(request, models.CreateCollection)
        if not name or len(name) > 255 or BARRED & set(name):
            raise Wrong(422, f"Validation error in path parameters: [collection_name: {name}]")
        vectors = body.vectors
        if not isinstance(vectors, models.VectorParams) or not 1 <= vectors.size <= 65536:
            raise Wrong(422, "Validation error in JSON body: [vectors.size: must be from 1 to 65536]")
        if self._local.collection_exists(name):
            raise Wrong(409, f"Wrong input: Collection `{name}` already exists!")
        self._local.create_collection(name, vectors_config=vectors)
        _hasten(self._local.collections[name])
        return _result(True)

    async def _delete_collection(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        there = self._local.collection_exists(name)
        if there:
            self._local.delete_collection(name)
            self._keep_indexes(name, None)
        return _result(there)

    async def _index(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.CreateFieldIndex)
        schema = json.loads(body.model_dump_json(exclude_none=True)).get("field_schema")
        self._keep_indexes(name, self._indexes.get(name, {}) | {body.field_name: schema})
        return _updated()

    async def _upsert(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.PointsList)
        size = self._local.get_collection(name).config.params.vectors.size
        if not body.points:
            raise Wrong(422, "Validation error in JSON body: [points: must not be empty]")
        for point in body.points:
            _check_id(point.id)
            _check_vector(point.vector, size)
        self._local.upsert(name, body.points)
        return _updated()

    async def _query(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.QueryRequest)
        size = self._local.get_collection(name).config.params.vectors.size
        limit = 10 if body.limit is None else body.limit
        if limit < 1:
            raise Wrong(422, f"Validation error in JSON body: [internal.limit: value {limit} invalid]")
        _check_vector(getattr(body.query, "nearest", body.query), size)
        found = self._local.query_points(
            name,
            query=body.query,
            query_filter=body.filter,
            limit=limit,
            with_payload=body.with_payload or False,
            with_vectors=body.with_vector or False,
        )
        return _result(found)

    async def _delete(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.PointIdsList)
        for point_id in body.points:
            _check_id(point_id)
        self._local.delete(name, body)
        return _updated()

    async def _scroll(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.ScrollRequest)
        limit = 10 if body.limit is None else body.limit
        if limit < 1:
            raise Wrong(422, f"Validation error in JSON body: [limit: value {limit} invalid]")
        page, following = self._local.scroll(
            name,
            scroll_filter=body.filter,
            limit=limit,
            offset=body.offset,
            with_payload=True if body.with_payload is None else body.with_payload,
            with_vectors=body.with_vector or False,
        )
        points = [json.loads(one.model_dump_json(exclude_none=True)) for one in page]
        return _result({"points": points, "next_page_offset": following})

    async def _count(self, request: web.Request) -> web.Response:
        name, body = self._existing(request), await _body(request, models.CountRequest)
        return _result(self._local.count(name, count_filter=body.filter))

    def _existing(self, request: web.Request) -> str:
        name = request.match_info["name"]
        if not self._local.collection_exists(name):
            raise Wrong(404, f"Not found: Collection `{name}` doesn't exist!")
        return name

    def _keep_indexes(self, name: str, indexes: dict[str, Any] | None) -> None:
        self._indexes.pop(name, None)
        if indexes is not None:
            self._indexes[name] = indexes
        self._indexes_file.write_text(json.dumps(self._indexes))


async def _body(request: web.Request, model: type[BaseModel]) -> Any:
    if request.content_type != "application/json":
        raise Wrong(415, "Content type error")
    try:
        return TypeAdapter(model).validate_json(await request.read(), strict=False)
    except ValidationError as exc:
        raise Wrong(400, f"Format error in JSON body: {exc.errors(include_url=False)[:3]}") from exc


def _check_id(point_id: Any) -> None:
    try:
        if isinstance(point_id, str):
            UUID(point_id)
    except ValueError:
        raise Wrong(400, f"Format error in JSON body: {point_id} is not a valid point ID") from None


def _check_vector(vector: Any, size: int) -> None:
    if not isinstance(vector, list) or not all(isinstance(one, float) for one in vector):
        raise Wrong(400, "Wrong input: Not existing vector name error")
    if len(vector) != size:
        raise Wrong(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(vector)}")


def _result(found: Any) -> web.Response:
    if isinstance(found, BaseModel):
        found = json.loads(found.model_dump_json(exclude_none=True))
    return web.json_response({"result": found, "status": "ok", "time": 0.000012})


def _updated() -> web.Response:
    return _result({"operation_id": 1, "status": "completed"})


async def _before(fault: dict[str, Any], request: web.Request) -> web.StreamResponse | None:
    if fault["fault"] == "delay":
        await asyncio.sleep(fault["seconds"])
    if fault["fault"] == "status":
        headers = {"Retry-After": fault["retry_after"]} if "retry_after" in fault else {}
        told = {"status": {"error": "Service internal error: out of memory"}, "time": 0.0}
        return web.json_response(told, status=fault["status"], headers=headers)
    if fault["fault"] == "key" and request.headers.get("api-key") != fault["key"]:
        return web.Response(status=401, text="Must provide an API key or an Authorization bearer token")
    if fault["fault"] == "hang_up" and request.transport is not None:
        request.transport.abort()
    return None


async def _after(
    fault: dict[str, Any], request: web.Request, whole: web.StreamResponse
) -> web.StreamResponse:
    """Replies that cannot be read, after the work was done."""
    assert isinstance(whole, web.Response)
    assert isinstance(whole.body, bytes)
    if fault["fault"] == "not_json":
        return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
    if fault["fault"] == "strange":
        return web.json_response({"result": {"points": [{"id": None}], "config": 7}, "status": "ok"})
    if fault["fault"] == "huge":
        return web.Response(body=b" " * HUGE + whole.body, content_type="application/json")
    if fault["fault"] == "cut":
        response = web.StreamResponse(headers={"Content-Length": str(len(whole.body))})
        await response.prepare(request)
        await response.write(whole.body[: len(whole.body) // 2])
        assert request.transport is not None
        request.transport.close()
        return response
    return whole


def _hasten(collection: Any) -> None:
    """SQLite waits for the disk after each point; a kill of the process loses nothing without that."""
    collection.storage.storage.execute("PRAGMA synchronous = OFF")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--api-key", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # local mode says of itself that it is slow
    app = Bridge(given.path, given.api_key).application()
    web.run_app(app, host="127.0.0.1", port=given.port, print=None)


if __name__ == "__main__":
    main()
