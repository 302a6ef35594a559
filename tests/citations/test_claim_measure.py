"""A small measure of the judge over made claims; `benchmarks.claims` is the large one, over any documents."""

import random
from collections import Counter

from benchmarks import claim_variants as variants
from rag.citations.judge import judged
from rag.citations.folding import bare, normalised
from rag.sentences import analysis_of

TEXT = (
    "In 1870, the Summer Theatre was opened in the Saxon Garden, and 1,250 people were able to see "
    "its plays. It was built by the architect Leon Schiller for about 2.5 million marks. However, the"
    " theatre was not heated before 1893. From 1901 to 1939, the cabaret Momus was known in Warsaw "
    "for its songs (in Polish). The Great Theatre is larger than the Summer Theatre, and 34 % of its "
    "seats were sold to tourists in 2018. Its first director, Karol Borowski, was paid 600 marks per "
    "month. The tower is 23 metres high and the garden has an area of 15 hectares. After the war, "
    "fewer than 40 houses were left in the quarter. The Vistula had flooded the cellar for 12 days in"
    " 1947."
)
NAMES = ["Kraków", "Lodz", "Edison", "Great Theatre", "Karol Borowski", "Momus", "Vistula"]
STRANGER = "Many prions have been found in the brains of cattle since the disease was described."
SEEDS = range(6)


def sentences() -> list[str]:
    return [TEXT[s.start : s.end] for s in analysis_of(TEXT, "en").sentences]


def test_hostile_claims_are_never_supported() -> None:
    made: Counter[str] = Counter()
    for seed in SEEDS:
        rng = random.Random(seed)
        for sentence in sentences():
            hostile = {
                "digit": variants.digit_altered(sentence, rng),
                "name": variants.name_altered(sentence, NAMES, rng),
                "numbers": variants.numbers_exchanged(sentence),
                "denied": variants.denied(sentence),
                "affirmed": variants.affirmed(sentence),
                "unit": variants.unit_altered(sentence),
                "opposed": variants.opposed(sentence),
                "quote": variants.quote_invented(sentence, STRANGER),
                "stranger": STRANGER,
            }
            for kind, claim in hostile.items():
                if claim and bare(claim) not in normalised(TEXT).text:
                    made[kind] += 1
                    assert judged(claim, TEXT, "en").support is None, (kind, claim)
    assert len(made) == 9, made


def test_faithful_claims_are_supported() -> None:
    wrong, made = [], 0
    for sentence in sentences():
        faithful = [
            variants.itself(sentence),
            variants.attributed(sentence),
            variants.opening_dropped(sentence),
            variants.opening_moved(sentence),
            variants.otherwise(sentence),
            variants.bracket_dropped(sentence),
            variants.numbers_spelled(sentence),
        ]
        for claim in filter(None, faithful):
            made += 1
            if judged(claim, TEXT, "en").support is None:
                wrong.append(claim)
    assert made > 25
    assert wrong == []
