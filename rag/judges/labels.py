"""Which of a model's numbers means entailment, as its config.json says."""

from pathlib import Path
from typing import NamedTuple

from rag.local_models.pairs import config_of


class Labels(NamedTuple):
    """Places of the labels among the model's `outputs` numbers."""

    outputs: int
    entailment: int
    contradiction: int


def labels_of(folder: Path) -> Labels:
    """Raises ValueError where config.json does not name them."""
    try:
        named = config_of(folder).get("id2label")
    except ValueError as exc:
        raise ValueError(f"the config.json of {folder} is no JSON") from exc
    if not isinstance(named, dict) or not all(str(place).isdigit() for place in named):
        raise ValueError(f"{folder} holds no config.json whose id2label names the labels")
    places = {str(label).lower(): int(place) for place, label in named.items()}
    found = [
        next((place for label, place in places.items() if label.startswith(word)), None)
        for word in ("entail", "contradict")
    ]
    if found[0] is None or found[1] is None or sorted(places.values()) != list(range(len(named))):
        raise ValueError(f"the id2label of {folder} names no entailment and contradiction")
    return Labels(len(named), found[0], found[1])
