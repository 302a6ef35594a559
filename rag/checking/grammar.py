"""Small words that say who does what: auxiliaries, prepositions, pronouns. Plain Python."""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRESENT = _words("is are has have ist sind hat haben")
PAST = _words("was were had war waren hatte hatten")
AUXILIARY = (
    PRESENT
    | PAST
    | _words(
        """
        can could will would shall must may might does did do wird werden wurde wurden kann können konnte
        konnten muss müssen musste mussten darf dürfen soll sollen
        """
    )
)
CASES = _words(
    """
    of to from by with than for against in on at into onto over under through between after before until about
    near towards toward without per via upon along across behind beyond despite like off
    inside outside during within among
    von vom zu zum zur an am ans auf aus bei beim bis durch für gegen im ins mit nach über um unter vor als
    """
)
AGENTS = _words("by von vom durch")
OBJECTS = _words("den dem einen einem ihn ihm diesen diesem")  # articles that make no subject, in German
SUBJECTS = _words("he she it they er sie es")
OBJECT_PRONOUNS = _words("it them him her this es sie ihn")
PLACES = _words("when where")
RELATIVES = _words("which who that welche welcher welches")
PLACING = _words("to in on at into onto upon zu zum zur in im ins an am auf bei beim nach")
AWAY = _words("from von vom aus")
COMPARING = _words("than als")
MORE = _words("more less fewer mehr weniger worse")
NO_NOUN = ("ing", "ed", "ly")  # how words end that open a sentence and are no subject
GOING_ON = _words("and but or und aber oder")  # what follows may be about the same
ADVERBS = _words("then so")  # join nothing without a mark before them
PASSIVE = _words("is are was were be been being wird werden wurde wurden")
ALTERNATING = _words("before after until bevor nachdem")  # a clause or only a noun may follow
# What ended, or held for a time alone.
ENDED = _words(
    """
    until formerly previously once originally then earlier bis früher ehemals damals einst zuvor ursprünglich
    """
)
RESTRICTING = _words("under over above below unter über ab")  # between a noun and a number
PEOPLE = _words("children people men women kinder personen")  # plurals without their ending
SUPPOSING = _words("if unless wenn falls sofern")
SUPPOSED = SUPPOSING | _words("when whether should provided where case until once would could")
CONCEDING = _words("even as auch selbst als")  # "even if" supposes nothing
NEGATING: Mapping[str, tuple[str, ...]] = {
    "en": ("un", "in", "im", "il", "ir", "non", "dis"),
    "de": ("un", "in", "im", "ir", "nicht", "miss", "dis"),
}
NOT = _words("not nicht")
BASE = 4  # letters of a word that a prefix denies


def negating(language: str) -> tuple[str, ...]:
    """Prefixes that deny a word."""
    return NEGATING.get(language or "en", ())
