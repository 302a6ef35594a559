"""Claims written by hand as chat models put them, about twenty short texts, and the state of each.

    python -m benchmarks.written_claims [--show]

A claim that says something else is to be contradicted, or at least to stay unverified; one that says the
same must keep its marker. Of the half that is not `in_view` only the counts are to be looked at.
"""

import argparse
import asyncio
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support import environment

environment.set_environment()

from rag.citations.checker import Checker
from rag.context.fitting import context_of
from rag.types.answer import Synthesis
from rag.types.claims import BEST_FIRST
from rag.types.context import Context
from tests.rag.factory import passage

TEXTS = Path(__file__).with_name("written_claims.json")
KINDS = {"same": "the same", "other": "something else"}
STATES = (*BEST_FIRST, "contradicted")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--show", action="store_true", help="print the claims in view that are judged wrongly"
    )
    options = parser.parse_args()
    states: Counter[tuple[bool, str, str]] = Counter()
    for text in json.loads(TEXTS.read_text()):
        for kind in KINDS:
            for claim in text[kind]:
                state = asyncio.run(_state(claim, _context(text)))
                states[text["in_view"], kind, state] += 1
                wrong = ("contradicted",) if kind == "same" else ("exact", "supported")
                if options.show and text["in_view"] and state in wrong:
                    print(f"{kind}, {state}: {claim}")
    for in_view in (True, False):
        for kind, says in KINDS.items():
            counted = ", ".join(f"{states[in_view, kind, state]} {state}" for state in STATES)
            print(f"in view: {in_view!s:<5}  says {says}: {counted}")


async def _state(claim: str, context: Context) -> str:
    """The worst of its markers."""
    reply = claim if "[1]" in claim else re.sub(r"[.]?\Z", " [1].", claim, count=1)
    found = await Checker(context).whole(Synthesis(reply))
    if found.contradicted or not found.citations:
        return "contradicted"
    return max((one.support for one in found.citations), key=STATES.index)


def _context(text: dict[str, Any]) -> Context:
    made = context_of([passage(1, text["text"])])
    return replace(made, blocks=tuple(replace(block, language=text["language"]) for block in made.blocks))


if __name__ == "__main__":
    main()
