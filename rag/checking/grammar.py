"""Small words that say who does what: auxiliaries, prepositions, pronouns. Plain Python."""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What makes a duty of it; "shall" and its like are written as "must".
OBLIGING = _words(
    """
    must should need needs required require requires mandatory obligatory payable due muss müssen soll sollen
    """
)
CONTRASTING = _words("while whereas während wohingegen")  # a subject of its own follows
BEFORE_NOUNS = _words(  # what a subject begins with
    """
    the a an this these that those some many most all both several few each every no any another other such
    der die das ein eine einige viele alle beide jeder jede jedes kein keine
    """
)
LIMITING = _words(  # behind a noun, what says which of them
    "who that whose whom with without among older younger aged over under above below living born"
)
APPOSITIVE = _words(  # "the city of Rome", "a number of birds"
    """
    city town village state river month year island country kingdom number group pair series type kind sort
    form lot majority rest amount set range name title age rate level piece variety member members one team
    """
)
SHARES = _words(
    """
    some most many few several half part all both none each majority third quarter percent minority one
    two three
    """
)
THEIR = _words("its their his her our your my")
NO_IMPERATIVE = ("s", "ed", "ing", "ly")
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
THEM = _words("them whom which these those")
AGENTS = _words("by von vom durch")
OBJECTS = _words("den dem einen einem ihn ihm diesen diesem")  # articles that make no subject, in German
SUBJECTS = _words("he she it they er sie es")
OBJECT_PRONOUNS = _words("it them him her this es sie ihn")
PLACES = _words("when where")
RELATIVES = _words("which who that welche welcher welches")
RELATIVE = RELATIVES | _words("whom whose dessen deren")
PLACING = _words("to in on at into onto upon zu zum zur in im ins an am auf bei beim nach")
AWAY = _words("from von vom aus")
AGAINST = _words("compared unlike versus")  # what it is not the same as, or is measured by, follows
SEQUENCE = _words(  # what stands around it may not change places
    """
    before after because if unless then bevor nachdem weil wenn dann danach avant après parce puis antes
    después porque luego
    """
)
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
FORMERLY = _words("formerly previously former originally early früher ehemals einst zuvor ursprünglich")
RESTRICTING = _words("under over above below unter über ab")  # between a noun and a number
PEOPLE = _words("children people men women kinder personen")  # plurals without their ending
SUPPOSING = _words("if unless wenn falls sofern")
SUPPOSED = SUPPOSING | _words("when whether provided where case until once would could")
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
