"""How well the judge of claims tells what a passage supports: false accepts and false rejects by kind.

    python -m benchmarks.claims FOLDER [--sentences 1500] [--show KIND] [--seed 5]

FOLDER holds PDF or Markdown files. They are read and split as in an upload; from their sentences claims are
made that say the same (benchmarks/claim_variants.py) and claims that do not. No model is used.
"""

import argparse
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support import environment

environment.set_environment()

from benchmarks import claim_variants as variants  # noqa: E402
from documents.chunkers.sentence import SentenceChunker  # noqa: E402
from documents.extractors.sandbox import SandboxedExtractor  # noqa: E402
from documents.languages import language_of  # noqa: E402
from documents.tokens import WordPieceCounter  # noqa: E402
from documents.types import ChunkingSettings  # noqa: E402
from rag.citations.folding import bare, normalised  # noqa: E402
from rag.citations.judge import judged  # noqa: E402
from rag.sentences import analysis_of  # noqa: E402

WORDS_A_SENTENCE = range(6, 45)


class Chunk(NamedTuple):
    document: str
    language: str
    content: str


class Source(NamedTuple):
    chunk: Chunk
    sentence: str
    following: str


class Claim(NamedTuple):
    kind: str
    faithful: bool
    text: str
    chunk: Chunk


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--show", default="", help="print the claims of this kind that are judged wrongly")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    chunks = [chunk for path in sorted(options.folder.iterdir()) for chunk in chunks_of(path)]
    rng = random.Random(options.seed)
    claims = list(made_of(chosen(chunks, options.sentences, rng), rng))
    report(claims, options.show)
    print(f"\n{cost(claims, chunks):.2f} ms of CPU a claim over 10 blocks, each of them seen before")


def chunks_of(path: Path) -> Iterator[Chunk]:
    if path.suffix not in (".pdf", ".md"):
        return
    extraction = _EXTRACTOR.extract(path, filename=path.name)
    language = language_of(extraction.text)
    for draft in _CHUNKER.split(extraction, ChunkingSettings()):
        yield Chunk(path.name, language, draft.content)


_EXTRACTOR = SandboxedExtractor()
_CHUNKER = SentenceChunker(tokenizer=WordPieceCounter())


def chosen(chunks: list[Chunk], count: int, rng: random.Random) -> list[Source]:
    """Sentences of running text, as many from each document as there are, up to an equal share."""
    found: dict[str, list[Source]] = defaultdict(list)
    for chunk in chunks:
        sentences = analysis_of(chunk.content, chunk.language).sentences
        texts = [chunk.content[s.start : s.end] for s in sentences]
        for n, (sentence, text) in enumerate(zip(sentences, texts, strict=True)):
            text = re.sub(r" ?\[\d[^\]]{0,20}\]", "", text)
            prose = len(re.findall(r"\d[\d.,]*", text)) < 6 and "http" not in text
            length = len(text) // 3 if chunk.language == "zh" else len(text.split())
            if sentence.complete and length in WORDS_A_SENTENCE and prose:
                found[chunk.document].append(Source(chunk, text, texts[n + 1] if n + 1 < len(texts) else ""))
    share = count // max(1, len(found))
    return [one for all_of in found.values() for one in rng.sample(all_of, min(share, len(all_of)))]


def made_of(sources: list[Source], rng: random.Random) -> Iterator[Claim]:
    names = sorted({name for s in sources for name in variants.RUN.findall(variants.flat(s.sentence))})
    words = sorted({word for s in sources for word in re.findall(r"\b[a-z]{6,}\b", s.sentence)})
    for source in sources:
        sentence, stranger = source.sentence, rng.choice(sources)
        english = source.chunk.language == "en"
        same = {
            "itself": variants.itself(sentence),
            "attributed": variants.attributed(sentence) if english else "",
            "opening dropped": variants.opening_dropped(sentence),
            "ending dropped": variants.ending_dropped(sentence),
            "opening moved": variants.opening_moved(sentence),
            "said otherwise": variants.otherwise(sentence),
            "bracket dropped": variants.bracket_dropped(sentence),
            "numbers spelled": variants.numbers_spelled(sentence),
            "active": variants.active(sentence),
            "two merged": variants.merged(sentence, source.following),
            "pronoun named": variants.named(sentence, source.following),
        }
        within = [name for name in names if name in source.chunk.content]
        strange = stranger.sentence if stranger.chunk.document != source.chunk.document else ""
        other = {
            "digit altered": variants.digit_altered(sentence, rng),
            "name altered": variants.name_altered(sentence, names, rng),
            "name of the same passage": variants.name_altered(sentence, within, rng),
            "names exchanged": variants.names_exchanged(sentence),
            "numbers exchanged": variants.numbers_exchanged(sentence),
            "negation put in": variants.denied(sentence),
            "negation left out": variants.affirmed(sentence),
            "unit altered": variants.unit_altered(sentence),
            "opposite": variants.opposed(sentence),
            "quote invented": variants.quote_invented(sentence, stranger.sentence),
            "another document's": variants.flat(strange),
            "common word altered": variants.word_altered(sentence, words, rng),
        }
        yield from (Claim(kind, True, text, source.chunk) for kind, text in same.items() if text)
        for kind, text in other.items():
            if text and bare(text) not in normalised(source.chunk.content).text:
                yield Claim(kind, False, text, source.chunk)


def report(claims: list[Claim], show: str) -> None:
    made, wrong, exact = Counter[tuple[bool, str]](), Counter[tuple[bool, str]](), Counter[tuple[bool, str]]()
    for claim in claims:
        verdict = judged(claim.text, claim.chunk.content, claim.chunk.language)
        key = claim.faithful, claim.kind
        made[key] += 1
        exact[key] += verdict.support == "exact"
        if (verdict.support is not None) != claim.faithful:
            wrong[key] += 1
            if show == claim.kind:
                quote = " ".join(claim.chunk.content[verdict.start : verdict.end].split())
                print(f"- {claim.text}\n  {verdict.support} {verdict.share:.2f}: {quote}\n")
    for faithful, title in ((True, "says the same"), (False, "says something else")):
        print(f"\n{title:<28}{'claims':>8}{'wrong':>8}{'share':>8}{'exact':>8}")
        for key in [key for key in made if key[0] is faithful]:
            print(f"{key[1]:<28}{made[key]:>8}{wrong[key]:>8}{wrong[key] / made[key]:>8.3f}{exact[key]:>8}")


def cost(claims: list[Claim], chunks: list[Chunk]) -> float:
    """Milliseconds, without the first time that a block is seen."""
    rng = random.Random(1)
    sample = rng.sample(claims, min(200, len(claims)))
    blocks = rng.sample(chunks, 9)
    for claim in sample:
        for block in (claim.chunk, *blocks):
            judged(" ".join(block.content.split()[-40:]), block.content, block.language)
    started = time.process_time()
    for claim in sample:
        for block in (claim.chunk, *blocks):
            judged(claim.text, block.content, block.language)
    return (time.process_time() - started) * 1000 / len(sample)


if __name__ == "__main__":
    main()
