"""Words after which a full stop does not end a sentence; all in lower case, without the full stop."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Never at a sentence's end: a name or more of the sentence always follows.
ABBREVIATIONS = _words(
    """
    dr mr mrs ms mx prof rev hon gen col capt lt sgt maj cmdr gov sen rep pres st ste mt ft messrs
    eds trans vs cf viz ca approx resp incl excl eg ie loc ibid
    bzw bsp vgl bd dipl ing str hrsg geb gest evtl ggf inkl zzgl zb
    mme mlle mm env av boul sra srta dña sig dott
    """
)
# Only before a number: "No. 5", but "He said no. 5 of them agreed" is rarer than "He said no. They left."
NUMBERED = _words(
    """
    fig figs eq eqs sec ch chap vol vols pp p ed no nos nr art para ref refs tab app ex op abb abs
    núm pág págs jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
# May also stand at a sentence's end; the word that follows decides.
OPEN_ENDED = _words("etc inc ltd co corp llc plc jr sr al esq bros dept est usw uvm ags")
# German and Scandinavian ordinals: "3. Mai".
MONTHS = _words(
    """
    januar februar märz april mai juni juli august september oktober november dezember
    januari februari mars maj augusti
    """
)
# Words that, with a capital, open a sentence far more often than they carry on with a name.
STARTERS = _words(
    """
    The A An This That These Those There Then Thus It Its He She We They I You His Her Our Their In On At By
    For From With To As If When While Where After Before Although Though However But And Or So Since
    Because During Under Over All Some Many Most Each Both No Not One Two What Who Why How
    Der Die Das Ein Eine Er Sie Es Wir Im In Am Auf Mit Nach Bei Seit Doch Aber
    Le La Les Un Une Il Elle Ils Nous Dans Pour El Los Las En Por Con Se
    """
)
