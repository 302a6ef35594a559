"""How many tokens a text is, and how many there is room for. Plain Python."""

from collections.abc import Callable
from typing import NamedTuple

from rag.prompts import place_of
from rag.types.context import Room
from rag.types.retrieval import Passage

Count = Callable[[str], int]

CONTEXT_TOKENS = 4000
# A chat model splits texts in its own way. The embedding model's tokens are of English: of what it cannot
# read, it makes one token a word. In all scripts that were looked at, these count at least as many as GPT's
# and Llama's tokenizers do, which take some 4 ASCII characters and 3 bytes of other scripts.
ASCII_PER_TOKEN, OTHER_BYTES_PER_TOKEN = 5.0, 2.5
SAFE_SHARE = 0.9  # of a model's window: the rest is for what its tokenizer makes more of than ours
BLOCK_TOKENS = 5  # "[12] " and the blank line, besides the line that tells the place
FRAME_TOKENS = 24  # "Context: <context> </context> Question:", and what a chat's messages are wrapped in
LEAST_SHARE = 0.25  # of the budget, for the blocks, whatever question and reply would take


def estimate_tokens(text: str) -> int:
    """Return at least the tokens of most models, from the text's length alone."""
    ascii_only = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    other = len(text.encode(errors="replace")) - ascii_only
    return int(ascii_only / ASCII_PER_TOKEN + other / OTHER_BYTES_PER_TOKEN) + 1


class Ruler(NamedTuple):
    """count: the embedding model's tokens of a text; `estimated` is never less than what is taken."""

    count: Count = estimate_tokens

    def tokens(self, text: str) -> int:
        return max(self.count(text), estimate_tokens(text))

    def of_passage(self, passage: Passage) -> int:
        """Return its tokens, without counting again what was counted when it was stored."""
        head = estimate_tokens("\n".join(passage.table_head)) if passage.table_head else 0
        return max(passage.token_count, estimate_tokens(passage.content)) + head

    def of_frame(self, passage: Passage) -> int:
        """Return the tokens of what a block of this passage has around its text."""
        return BLOCK_TOKENS + estimate_tokens(place_of((passage,)))


def room_for_blocks(room: Room | None, ruler: Ruler, budget: int, window: int | None) -> int:
    """Tokens that the blocks of a context may take.

    room: what a model is told and says besides; None for nobody who reads a prompt: then it is all theirs.
    budget: of prompt and reply. window: of the model, None where it is large enough.
    """
    if room is None:
        return budget
    told, _, asked = room.prompt.rpartition("\n")  # what every question is told is counted once
    others = ruler.tokens(told) + ruler.tokens(asked) + FRAME_TOKENS + room.reply_tokens
    within = budget if window is None else min(budget, int(window * SAFE_SHARE))
    return max(within - others, int(within * LEAST_SHARE))
