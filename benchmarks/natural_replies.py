"""What a client sees of natural replies: of right ones, and of the same with one claim made wrong.

    python -m benchmarks.natural_replies [--half view|unseen|all] [--mode plain-whole ...] [--json FILE]

`natural_replies/replies.jsonl` holds questions about `natural_replies/documents`, the blocks of the prompt,
a right reply, and variants of its claims that are wrong in a known way. This starts a whole Knowlex on a
temporary data folder, takes the documents in, and answers in the place of the chat model: first with each
right reply, then with each variant in the place of its claim. Modes: a model that knows no
`response_format`, or one that is held to a schema, each whole and streamed. Blocks are found by their text;
a question whose blocks are not all in the prompt is skipped and counted.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import environment

environment.set_environment()

import httpx

from benchmarks.replay_chat import Replay, SchemaWay, Told, served
from benchmarks.reply_set import (
    REPLIES,
    Claim,
    Record,
    documents,
    load,
    reply_of,
    words_in,
)
from benchmarks.reply_states import STATES, VERIFIED, Seen, Shown
from tests.stack.up import Up

COLLECTION = "natural replies"
MODES = ("plain-whole", "plain-streamed", "structured-whole", "structured-streamed")
TYPES = {".pdf": "application/pdf", ".md": "text/markdown", ".txt": "text/plain"}
SETTINGS = {
    "KNOWLEX_EMBEDDER": "local",
    "KNOWLEX_SYNTHESIZER": "openai",
    "OPENAI_API_KEY": "x",
    "KNOWLEX_CACHE": "off",
    "KNOWLEX_RATE_LIMIT": "off",
    "KNOWLEX_RELEVANCE_THRESHOLD": "0",
    "KNOWLEX_WORKERS": "1",
}


@dataclass
class Tally:
    """Of one mode. states: how many claims are in each, by kind; "" is that of the faithful ones."""

    states: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    count: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)


class Client:
    """Asks one Knowlex, and knows the chunks of its documents."""

    def __init__(self, base_url: str, *, streamed: bool, top_k: int) -> None:
        self._client = httpx.Client(base_url=base_url, timeout=120)
        self._streamed, self._top_k = streamed, top_k
        self.chunks: dict[str, str] = {}

    def __enter__(self) -> "Client":
        for document in self._client.get("/api/v1/documents", params={"collection": COLLECTION}).json():
            for chunk in self._client.get(f"/api/v1/documents/{document['id']}/chunks").json():
                self.chunks[chunk["id"]] = chunk["content"]
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, question: str) -> dict[str, Any]:
        """The answer; of a stream with `written`, what its tokens come to. `failed` says what went wrong."""
        body = {"query": question, "collections": [COLLECTION], "settings": {"top_k": self._top_k}}
        headers = {"Cache-Control": "no-cache"}
        if self._streamed:
            headers["Accept"] = "text/event-stream"
        reply = self._client.post("/v1/query", json=body, headers=headers)
        if reply.status_code != 200:
            return {"failed": f"{reply.status_code} {reply.text[:200]}"}
        if not self._streamed:
            return dict(reply.json())
        return _of_events(reply.text)


def _of_events(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"failed": "the stream ends without `done`"}
    written, sources = "", None
    for event in text.split("\n\n"):
        lines = [line.partition(": ") for line in event.splitlines()]
        name = next((value for key, _, value in lines if key == "event"), "")
        data = "\n".join(value for key, _, value in lines if key == "data")
        if name == "token":
            written += json.loads(data)["text"]
        elif name == "sources":
            sources = json.loads(data)
        elif name == "error":
            found = {"failed": data[:200]}
        elif name == "done":
            found = json.loads(data)
    if isinstance(sources, dict):
        sources = sources.get("sources")
    if sources is not None:
        found.setdefault("sources", sources)
    return {**found, "written": written}


def main() -> None:
    options = _options()
    records = load(options.replies, options.half)
    print(words_in(records), flush=True)
    data_dir, told = environment.FOLDER / "natural" / "data", {}
    filled = False
    for structured in (False, True):
        modes = [mode for mode in options.mode if mode.startswith("structured") == structured]
        if not modes:
            continue
        replay = Replay(_schema_way(structured, ignore=options.ignore_schema))
        with served(replay) as model, _up(data_dir, model, structured=structured) as url:
            if not filled:
                _fill(url)
                filled = True
            if options.record:
                _record(url, replay, records, options)
                return
            for mode in modes:
                told[mode] = _measured(url, replay, records, mode, options)
                _report(mode, told[mode], replay)
    if options.json:
        found = {
            mode: {"count": one.count, "states": one.states, "rows": one.rows} for mode, one in told.items()
        }
        options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("view", "unseen", "all"), default="all")
    parser.add_argument("--mode", choices=MODES, nargs="+", default=list(MODES))
    parser.add_argument("--ignore-schema", action="store_true", help="in plain modes, instead of refusing it")
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--json", type=Path, help="where to write the counts, and each claim's state")
    parser.add_argument("--record", type=Path, help="write the blocks of each question's prompt, and end")
    return parser.parse_args()


def _schema_way(structured: bool, *, ignore: bool) -> SchemaWay:
    if structured:
        return "answer"
    return "ignore" if ignore else "refuse"


@contextmanager
def _up(data_dir: Path, model: str, *, structured: bool) -> Iterator[str]:
    settings = {**SETTINGS, "OPENAI_BASE_URL": model}
    if structured:
        settings["KNOWLEX_STRUCTURED_CLAIMS"] = "on"
    up = Up.start(data_dir, **settings)
    try:
        yield up.ready()
    finally:
        up.end()


def _fill(url: str) -> None:
    """Take the documents in, and wait for the job."""
    with httpx.Client(base_url=url, timeout=120) as client:
        client.post("/v1/collections", json={"name": COLLECTION}).raise_for_status()
        files = [("file", (path.name, path.read_bytes(), TYPES[path.suffix])) for path in documents()]
        made = client.post("/v1/ingest", data={"collection_id": COLLECTION}, files=files)
        made.raise_for_status()
        job: dict[str, Any] = {"status": "pending"}
        while job["status"] in ("pending", "queued", "running", "processing"):
            job = client.get(f"/v1/ingest/{made.json()['job_id']}", params={"wait": 20}).json()
    if job["status"] != "completed":
        sys.exit(f"The documents were not taken in: {json.dumps(job)[:500]}")


def _record(url: str, replay: Replay, records: Sequence[Record], options: argparse.Namespace) -> None:
    with Client(url, streamed=False, top_k=options.top_k) as client, options.record.open("w") as file:
        for record in records:
            replay.expect(record, reply_of(record))
            client.ask(record.question)
            blocks = [{"n": n, "text": text} for n, text in replay.told.blocks.items()]
            line = {"id": record.id, "question": record.question, "blocks": blocks}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _measured(
    url: str, replay: Replay, records: Sequence[Record], mode: str, options: argparse.Namespace
) -> Tally:
    tally = Tally()
    replay.ways.clear()
    with Client(url, streamed=mode.endswith("streamed"), top_k=options.top_k) as client:
        for record in records:
            if _faithful(client, replay, record, tally):
                for variant in record.variants:
                    _unfaithful(client, replay, record, variant, tally)
    return tally


def _faithful(client: Client, replay: Replay, record: Record, tally: Tally) -> bool:
    """Whether the question can be asked with its variants, too."""
    response, told = _asked(client, replay, record, None, tally)
    if not record.answerable:
        tally.count["unanswerable"] += 1
        tally.count["unanswerable withheld"] += bool(response.get("reason"))
        return False
    if told.state != "said" or "failed" in response:
        tally.count["failed" if "failed" in response else f"skipped, {told.state}"] += 1
        tally.rows.append(
            {"id": record.id, "skipped": told.state, "failed": response.get("failed"), "half": record.half}
        )
        return False
    seen = _seen(client, response, told, tally)
    tally.count["right answers"] += 1
    tally.count["right answers shown"] += not seen.withheld
    for claim in record.claims:
        shown = _counted(record, claim, seen.claim(claim, told.mapping), tally)
        tally.count["claims with their marker"] += shown.kept > 0
        tally.count["markers"] += len(claim.markers)
        tally.count["markers kept"] += min(shown.kept, len(claim.markers))
        tally.count["markers moved"] += shown.moved
    return True


def _unfaithful(client: Client, replay: Replay, record: Record, variant: Claim, tally: Tally) -> None:
    response, told = _asked(client, replay, record, variant, tally)
    if told.state != "said" or "failed" in response:
        tally.count["variants skipped"] += 1
        return
    seen = _seen(client, response, told, tally)
    shown = _counted(record, variant, seen.claim(variant, told.mapping), tally)
    tally.count["variants with a marker"] += shown.kept + shown.moved > 0
    tally.count["variants whose answer is withheld"] += seen.withheld


def _asked(
    client: Client, replay: Replay, record: Record, variant: Claim | None, tally: Tally
) -> tuple[dict[str, Any], Told]:
    replay.expect(record, reply_of(record, variant))
    response = client.ask(record.question)
    if "written" in response and "failed" not in response:
        tally.count["streams"] += 1
        tally.count["streams that end as written"] += response["written"] == response.get("answer")
    return response, replay.told


def _seen(client: Client, response: dict[str, Any], told: Told, tally: Tally) -> Seen:
    seen = Seen(response, client.chunks, told.blocks)
    tally.count["quotes"] += seen.quotes()
    tally.count["quotes that are not in their chunk"] += seen.inexact()
    tally.count["markers that name nothing"] += seen.nameless()
    return seen


def _counted(record: Record, claim: Claim, shown: Shown, tally: Tally) -> Shown:
    tally.states[claim.kind][shown.state] += 1
    about = {"id": record.id, "lang": record.lang, "form": record.form, "half": record.half}
    tally.rows.append(
        {**about, "kind": claim.kind, "text": claim.text, "state": shown.state, "kept": shown.kept}
    )
    return shown


def _report(mode: str, tally: Tally, replay: Replay) -> None:
    count, faithful = tally.count, tally.states[""]
    of_faithful = faithful.total()
    wrong = sum((states for kind, states in tally.states.items() if kind), Counter[str]())
    right_verified, wrong_verified = (sum(states[one] for one in VERIFIED) for states in (faithful, wrong))
    skipped = {name: n for name, n in count.items() if name.startswith(("skipped", "failed")) and n}
    print(f"\n{mode}: model asked {dict(replay.ways)}; skipped {sum(skipped.values())} {skipped or ''}"
          f" and {count['variants skipped']} variants")  # fmt: skip
    for name, part, whole in (
        ("right answers shown", count["right answers shown"], count["right answers"]),
        ("faithful claims that keep a marker", count["claims with their marker"], of_faithful),
        ("their markers kept", count["markers kept"], count["markers"]),
        ("faithful claims verified", right_verified, of_faithful),
        ("faithful claims called contradicted", faithful["contradicted"], of_faithful),
        ("precision of verified", right_verified, right_verified + wrong_verified),
        ("variants verified", wrong_verified, wrong.total()),
        ("variants called contradicted", wrong["contradicted"], wrong.total()),
        ("unanswerable questions withheld", count["unanswerable withheld"], count["unanswerable"]),
        ("quotes that are not in their chunk", count["quotes that are not in their chunk"], count["quotes"]),
        ("streams that end as written", count["streams that end as written"], count["streams"]),
    ):
        print(f"  {name:<36} {_share(part, whole)}")
    for lang in sorted({row["lang"] for row in tally.rows if "lang" in row}):
        own = [row for row in tally.rows if row.get("lang") == lang and not row["kind"]]
        verified = sum(row["state"] in VERIFIED for row in own)
        print(f"  {f'faithful claims verified, {lang}':<36} {_share(verified, len(own))}")
    print(f"  {'markers that name nothing':<36} {count['markers that name nothing']}")
    print(f"  {'markers moved to another block':<36} {count['markers moved']}")
    _table(tally, wrong)


def _table(tally: Tally, wrong: Counter[str]) -> None:
    print("  " + f"{'kind':<14}{'claims':>7}" + "".join(f"{state:>14}" for state in STATES))
    kinds = [("faithful", tally.states[""]), *sorted((k, s) for k, s in tally.states.items() if k)]
    for kind, states in [*kinds, ("all variants", wrong)]:
        other = states.total() - sum(states[state] for state in STATES)
        line = f"{kind:<14}{states.total():>7}" + "".join(f"{states[state]:>14}" for state in STATES)
        print("  " + line + (f"  other: {other}" if other else ""), flush=True)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}" + (f" = {part / whole:.3f}" if whole else "")


if __name__ == "__main__":
    main()
