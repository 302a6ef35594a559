"""Both sides of comparisons: of two, the one is larger and the other one smaller. Plain Python."""

from collections.abc import Mapping

_COMPARATIVES = """
    larger bigger greater: smaller
    higher: lower
    longer: shorter
    taller: shorter smaller
    wider broader: narrower
    heavier: lighter
    older: younger newer
    faster quicker: slower
    earlier sooner: later
    more: less fewer
    better: worse
    deeper: shallower
    stronger: weaker
    louder: quieter
    warmer hotter: colder cooler
    cheaper: dearer costlier
    richer: poorer
    thicker: thinner
    harder: softer easier
    brighter: darker
    closer nearer: farther further
    größer: kleiner
    höher: niedriger tiefer
    länger: kürzer
    breiter: schmaler
    schwerer: leichter
    älter: jünger neuer
    schneller: langsamer
    früher eher: später
    mehr: weniger
    besser: schlechter
    teurer: billiger günstiger
    wärmer: kälter
    stärker: schwächer
    lauter: leiser
    näher: ferner
"""


def _turning(text: str) -> dict[str, frozenset[str]]:
    """Each word -> those of the other side."""
    found: dict[str, frozenset[str]] = {}
    for line in text.strip().splitlines():
        one, other = (frozenset(side.split()) for side in line.split(":"))
        for side, opposite in ((one, other), (other, one)):
            found.update({word: found.get(word, frozenset()) | opposite for word in side})
    return found


TURNED: Mapping[str, frozenset[str]] = _turning(_COMPARATIVES)
