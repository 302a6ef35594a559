"""Chances as logits, and back."""

import math

CERTAIN = 0.999  # what a chance counts as at most, and 1 less it at least


def logit_of(chance: float) -> float:
    chance = min(max(chance, 1 - CERTAIN), CERTAIN)
    return math.log(chance / (1 - chance))


def logistic(logit: float) -> float:
    return 0.5 + 0.5 * math.tanh(logit / 2)  # without overflow
