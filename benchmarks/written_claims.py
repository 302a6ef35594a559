"""Claims written by hand as chat models put them, about twenty short texts: refused and accepted.

    python -m benchmarks.written_claims [--show]

The rules of the judge were made with the half `in_view`; of the other half only the counts were looked at.
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

from rag.citations.checker import Checker  # noqa: E402
from rag.context import context_of  # noqa: E402
from rag.types import Context  # noqa: E402
from tests.rag.factory import passage  # noqa: E402

TEXTS = Path(__file__).with_name("written_claims.json")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--show", action="store_true", help="print the claims in view that are judged wrongly"
    )
    options = parser.parse_args()
    made, wrong = Counter[tuple[bool, str]](), Counter[tuple[bool, str]]()
    for text in json.loads(TEXTS.read_text()):
        for kind in ("same", "other"):
            for claim in text[kind]:
                key = text["in_view"], kind
                made[key] += 1
                if asyncio.run(_is_wrong(claim, kind, _context(text))):
                    wrong[key] += 1
                    if options.show and text["in_view"]:
                        print(f"{kind}: {claim}")
    for in_view, kind in made:
        judged = f"{wrong[in_view, kind]:>4} of {made[in_view, kind]}"
        print(
            f"in view: {in_view!s:<6} says the same, refused: {judged}"
            if kind == "same"
            else f"in view: {in_view!s:<6} says something else, accepted: {judged}"
        )


async def _is_wrong(claim: str, kind: str, context: Context) -> bool:
    """Whether a marker of what is true is lost, or one of what is not is kept."""
    reply = claim if "[1]" in claim else re.sub(r"[.]?\Z", " [1].", claim, count=1)
    kept = (await Checker(context).whole(reply)).text.count("[1]")
    return kept < reply.count("[1]") if kind == "same" else kept > 0


def _context(text: dict[str, Any]) -> Context:
    made = context_of([passage(1, text["text"])])
    return replace(made, blocks=tuple(replace(block, language=text["language"]) for block in made.blocks))


if __name__ == "__main__":
    main()
