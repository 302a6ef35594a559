"""Trains the sentence reader on CPU, and writes it as an int8 ONNX graph.

    python -m benchmarks.reading.train QUESTIONS.gz OUT --base FOLDER --written WRITTEN.gz ... [--seconds N]

Needs torch, transformers, onnx and onnxruntime. The base: see `base`; the files: see `pairs`. One encoder,
two outputs: whether the window answers, and, as a further thing to learn, where: only the first is written.
One process a core, which share their gradients.
"""

import argparse
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from benchmarks.reading.pairs import ReadPair, read_groups, read_pairs, read_written
from embeddings.multilingual_wheel import E5_DIMENSIONS, dequantize
from rag.relevance.fitting import area_under_curve
from rag.synthesizers.reader_model import GRAPH, TOKENIZER, WORDS, whole_vocabulary

MAX_TOKENS, BATCH_TOKENS, POOL = 256, 3000, 1024
RATE, WARM_UP, DECAY = 1.5e-4, 0.05, 0.01
FROZEN = 1 / 3  # of the layers, besides the embeddings: a third of the time
ANSWERING = 2.0  # weight of a pair that answers: there are fewer of them
ALONE = 1 / 3  # how often what was written for documents is learnt without the heading that it stands below
SPAN = 0.4  # weight of learning where the answer stands
# Of e5's layers the one whose inputs are far apart: in 8 bits it alone makes half of all that rounding does.
IN_FLOAT = ["/enc/encoder/layer.4/output/dense/MatMul"]
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


class Reader(nn.Module):
    def __init__(self, base: str) -> None:
        super().__init__()
        # On CPU the fused attention's way back takes half of all time, and so does chance.
        self.enc = AutoModel.from_pretrained(
            base, attn_implementation="eager", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        width = self.enc.config.hidden_size
        self.head, self.span = nn.Linear(2 * width, 1), nn.Linear(width, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, attention_mask: Tensor, **tokens: Tensor) -> tuple[Tensor, Tensor]:
        found = self.enc(attention_mask=attention_mask, **tokens).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(found.dtype)
        return self.answers(found, (found * mask).sum(1) / mask.sum(1)), self.span(found)

    def answers(self, found: Tensor, mean: Tensor) -> Tensor:
        return self.head(torch.cat([found[:, 0], mean], -1))[:, 0]


def batches(pairs: Sequence[ReadPair], tokenizer: AutoTokenizer, rng: random.Random) -> Iterator[dict]:
    """Yield batches of pairs of about the same length."""
    for start in range(0, len(pairs), POOL):
        pool = pairs[start : start + POOL]
        lengths = [len(pair.question) + len(pair.window) + rng.random() * 24 for pair in pool]
        batch: list[ReadPair] = []
        made: list[list[ReadPair]] = []
        for place in sorted(range(len(pool)), key=lambda n: (pool[n].english, lengths[n])):
            length = lengths[place] / (4 if pool[place].english else 3)
            if batch and (
                pool[place].english != batch[0].english or (len(batch) + 1) * length > BATCH_TOKENS
            ):
                made.append(batch)
                batch = []
            batch.append(pool[place])
        made.append(batch)
        rng.shuffle(made)
        yield from (encode(one, tokenizer) for one in made)


def encode(pairs: Sequence[ReadPair], tokenizer: AutoTokenizer) -> dict:
    """Return a batch. pairs: all in English, or none."""
    if not pairs[0].english:
        return _encode_vectors(pairs)
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


def _encode_vectors(pairs: Sequence[ReadPair]) -> dict:
    """Pairs of any language, as vectors of their words: their base's vocabulary is no part of the model."""
    known = whole_vocabulary()
    joined = [known.encode_pair(pair.question, pair.window) for pair in pairs]
    joined = [(pieces[:MAX_TOKENS], kinds[:MAX_TOKENS]) for pieces, kinds in joined]
    shape = len(pairs), max(len(pieces) for pieces, _ in joined)
    vectors = np.zeros((*shape, E5_DIMENSIONS), np.float32)
    types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, (pieces, kinds) in enumerate(joined):
        vectors[row, : len(pieces)] = dequantize(known.words[np.array(pieces)])
        types[row, : len(pieces)], mask[row, : len(pieces)] = kinds, 1
    return {
        "tokens": {
            "inputs_embeds": torch.from_numpy(vectors),
            "attention_mask": torch.from_numpy(mask),
            "token_type_ids": torch.from_numpy(types),
        },
        "labels": torch.tensor([float(pair.answers) for pair in pairs]),
        "starts": torch.full((len(pairs),), -1),
        "ends": torch.full((len(pairs),), -1),
    }


def loss_of(model: Reader, batch: dict) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        logits, spans = (out.float() for out in model(**batch["tokens"]))
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


def train(rank: int, arguments: argparse.Namespace) -> None:
    """Train in one of the processes; the first tells how good the model is and writes it.

    The rate rises, then falls to 0 over so many seconds of CPU. All see the same shuffled pairs, each its own
    share of them.
    """
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", arguments.meeting.as_uri(), rank=rank, world_size=arguments.processes
    )
    torch.manual_seed(1)
    tokenizer, model = AutoTokenizer.from_pretrained(arguments.base), Reader(arguments.base)
    if arguments.begin:
        model.load_state_dict(torch.load(arguments.begin))
    layers = range(int(FROZEN * model.enc.config.num_hidden_layers))
    frozen = ("embeddings", "pooler", *(f"encoder.layer.{number}." for number in layers))
    for name, weights in model.named_parameters():
        weights.requires_grad = not any(part in name for part in frozen)
    learnt = [weights for weights in model.parameters() if weights.requires_grad]
    steps = torch.optim.AdamW(learnt, lr=RATE, weight_decay=DECAY, fused=True)
    headed, alone = (read_written(arguments.written, headed=with_heading) for with_heading in (True, False))
    written = list(zip(headed.learnt, alone.learnt, strict=True))
    unseen = read_pairs(arguments.questions).unseen + headed.unseen + read_groups(arguments.groups).unseen
    started, told = time.process_time(), 0.0
    model.train()
    for epoch in range(1000):
        rng = random.Random(epoch)
        pairs = read_pairs(arguments.questions, seed=epoch).learnt
        pairs = rng.sample(pairs, int(arguments.public * len(pairs)))
        some = rng.sample(written, int(arguments.before * len(written)))
        pairs += [either[rng.random() < ALONE] for either in some]
        pairs += read_groups(arguments.groups, seed=epoch).learnt
        rng.shuffle(pairs)
        own = pairs[rank :: arguments.processes]
        for number, batch in enumerate(batches(own, tokenizer, random.Random(epoch))):
            done = (time.process_time() - started) / arguments.seconds
            loss = loss_of(model, batch)
            loss.backward()
            done = _share(learnt, done, arguments.processes)
            if done >= 1:
                break
            for group in steps.param_groups:
                group["lr"] = arguments.rate * min(1.0, done / WARM_UP + 0.02) * (1 - done)
            nn.utils.clip_grad_norm_(learnt, 1.0)
            steps.step()
            steps.zero_grad()
            if rank == 0 and done >= told:
                print(f"{done:.2f} epoch {epoch} batch {number} loss {loss.item():.3f}", flush=True)
                told += 0.02
        else:
            continue
        break
    if rank == 0:
        if arguments.after < 1:
            begun, ended = torch.load(arguments.begin), model.state_dict()
            model.load_state_dict(
                {name: torch.lerp(begun[name], ended[name], arguments.after) for name in ended}
            )
        torch.save(model.state_dict(), arguments.out / "state.pt")
        report(model, unseen, tokenizer)
        write(model, tokenizer, Path(arguments.base), arguments.out)


def _share(learnt: Sequence[nn.Parameter], done: float, processes: int) -> float:
    """Put the mean of all processes' gradients, and of how far they are, into each."""
    grads = [torch.zeros_like(weights) if weights.grad is None else weights.grad for weights in learnt]
    flat = torch.cat([grad.reshape(-1) for grad in grads] + [torch.tensor([done])])
    torch.distributed.all_reduce(flat)
    flat /= processes
    start = 0
    for weights, grad in zip(learnt, grads, strict=True):
        weights.grad = flat[start : start + grad.numel()].view_as(grad)
        start += grad.numel()
    return float(flat[-1])


@torch.no_grad()
def report(model: Reader, pairs: Sequence[ReadPair], tokenizer: AutoTokenizer) -> None:
    """Print the area under the curve for each kind of pair that does not answer, beside those that do."""
    model.eval()
    logits: list[float] = []
    pairs = sorted(pairs, key=lambda pair: (pair.english, len(pair.question) + len(pair.window)))
    for _, alike in groupby(pairs, key=lambda pair: pair.english):
        same = list(alike)
        for start in range(0, len(same), 32):
            some = same[start : start + 32]
            logits += model(**encode(some, tokenizer)["tokens"])[0].tolist()
    for kind in sorted({pair.kind for pair in pairs if not pair.answers}):
        chosen = [n for n, pair in enumerate(pairs) if pair.answers or pair.kind == kind]
        area = area_under_curve([logits[n] for n in chosen], [pairs[n].answers for n in chosen])
        print(f"{kind:28}{area:.3f}")


class _Answers(nn.Module):
    """Of one pair, its words looked up already: the layers serve any vocabulary of the same base."""

    def __init__(self, model: Reader) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, token_type_ids: Tensor) -> Tensor:
        found = self.model.enc(inputs_embeds=words, token_type_ids=token_type_ids).last_hidden_state
        return self.model.answers(found, found.mean(1))


def write(model: Reader, tokenizer: AutoTokenizer, base: Path, folder: Path) -> None:
    """Write model.onnx, fused for attention and int8, with tokenizer.json and the base's words.npy."""
    model.eval()
    model.enc.pooler = None
    example = tokenizer("Who?", "She.", return_tensors="pt")
    words = model.enc.embeddings.word_embeddings(example["input_ids"])
    floats, fused = folder / "float.onnx", folder / "fused.onnx"
    torch.onnx.export(
        _Answers(model),
        (words, example["token_type_ids"]),
        floats,
        input_names=["words", "token_type_ids"],
        output_names=["answers"],
        dynamic_axes={"words": {1: "tokens"}, "token_type_ids": {1: "tokens"}},
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
        folder / GRAPH,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Attention"],
        nodes_to_exclude=IN_FLOAT,
        extra_options={"DefaultTensorType": 1},
    )
    tokenizer.backend_tokenizer.save(str(folder / TOKENIZER), pretty=False)
    shutil.copy(base / WORDS, folder)
    for path in (floats, fused):
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--written", type=Path, nargs="*", default=[])
    parser.add_argument("--begin", type=Path, help="the state.pt of a training to go on from")
    parser.add_argument(
        "--after",
        type=float,
        default=1.0,
        help="share of the weights that it ended with in what is written; the rest are those that it began"
        " with (Wortsman and others, Model soups: averaging weights of multiple fine-tuned models, 2022)",
    )
    parser.add_argument("--base", required=True, help="the folder of a model to begin with")
    parser.add_argument("--seconds", type=float, default=4700)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument(
        "--public", type=float, default=1.0, help="share of the public sets that is learnt each time"
    )
    parser.add_argument("--groups", type=Path, nargs="*", default=[])
    parser.add_argument(
        "--before", type=float, default=1.0, help="share of what was written that is learnt each time"
    )
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        arguments.meeting = Path(folder) / "processes"
        torch.multiprocessing.spawn(train, (arguments,), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
