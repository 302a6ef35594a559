"""The sentence reader's model: a graph that takes words as vectors, and vocabularies to look them up in."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException
from tokenizers import Tokenizer

from embeddings.multilingual_wheel import E5_PACKAGE, E5File, dequantize
from embeddings.onnx_sessions import session_options
from rag.local_models import MAX_TOKENS, ModelFailed

GRAPH, TOKENIZER, WORDS = "model.onnx", "tokenizer.json", "words.npy"
MOST_OF_QUESTION = 200  # tokens


class Vocabulary(NamedTuple):
    """split: a text's pieces by their ids. begin, end: what stands before and after a text.

    words: (pieces, blocks, 18), as `dequantize` reads them.
    """

    split: Callable[[str], Sequence[int]]
    begin: int
    end: int
    words: NDArray[np.uint8]

    def encode_pair(self, question: str, sentence: str) -> tuple[list[int], list[int]]:
        """Return the pieces of both, cut where they are too long, and of which of the two each is."""
        asked = [self.begin, *self.split(question)[:MOST_OF_QUESTION], self.end]
        told = [*self.split(sentence)[: MAX_TOKENS - len(asked) - 1], self.end]
        return asked + told, [0] * len(asked) + [1] * len(told)


class ReaderModel:
    """folder: `GRAPH`, and the `TOKENIZER` and `WORDS` of English. Safe for several threads.

    Raises ValueError for a folder without such a model.
    """

    def __init__(self, folder: Path) -> None:
        check_files(folder)
        try:
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            begin, end = tokenizer.encode("", "").ids[:2]
            self._english = Vocabulary(
                lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
                begin,
                end,
                np.load(folder / WORDS, mmap_mode="r"),
            )
            self._session = onnxruntime.InferenceSession(
                folder / GRAPH, session_options(), ["CPUExecutionProvider"]
            )
            self.logit("question", "sentence")
        except ModelFailed as exc:
            raise ValueError(exc.message) from exc
        except Exception as exc:  # tokenizers has no narrower one, ONNX Runtime a class for each of its codes
            raise ValueError(f"{folder} holds no reader that can be used: {exc}"[:500]) from exc

    def logit(self, question: str, sentence: str, *, english: bool = True) -> float:
        """Return the logit that the sentence answers; what is too long is cut. Raises ModelFailed.

        english: with the vocabulary that ships; else with the base's whole one, which is to be installed.
        """
        try:
            (found,) = self._session.run(None, self.inputs_for(question, sentence, english=english))
        except (Fail, InvalidArgument, RuntimeException) as exc:  # memory, for the most part
            raise ModelFailed("The model could not run.") from exc
        logit = float(np.asarray(found).item())
        if not np.isfinite(logit):
            raise ModelFailed("The model gives no number.")
        return logit

    def inputs_for(self, question: str, sentence: str, *, english: bool = True) -> dict[str, NDArray[Any]]:
        """Return what the graph takes. Raises ModelFailed."""
        known = self._english if english else whole_vocabulary()
        pieces, kinds = known.encode_pair(question, sentence)
        return {
            "words": dequantize(known.words[np.array(pieces)])[None],
            "token_type_ids": np.array([kinds], dtype=np.int64),
        }


def check_files(folder: Path) -> None:
    """Raise ValueError for a folder without a file that the model needs."""
    for name in (GRAPH, TOKENIZER, WORDS):
        if not (folder / name).is_file():
            raise ValueError(f"{folder} holds no {name}")


def has_whole_vocabulary() -> bool:
    """Tell whether the vocabulary of other languages than English is installed."""
    return find_spec(E5_PACKAGE) is not None


@cache
def whole_vocabulary() -> Vocabulary:
    """Return that of the base, for any language. Raises ModelFailed where it is not installed."""
    try:
        file = E5File.of_wheel()
    except (OSError, ValueError) as exc:
        raise ModelFailed(f"{E5_PACKAGE} cannot be read.") from exc
    encode = file.tokenizer.encode
    return Vocabulary(lambda text: encode(text)[0], file.begin, file.end, file.words())
