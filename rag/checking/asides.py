"""Claims with another one inside: "The tower, finished in 1889, is 330 m tall." Plain Python."""

import re

_IS = r"(?:is|was|are|were|has|have|had|can|could|will|would|does|did|may|might|must|stands?|stood)"
_DONE = r"(?:[a-z]+ed|built|born|known|written|made|held|led|won|run|sold|bought|given|drawn|set|brought)"
_WITHIN = re.compile(
    rf"(?P<subject>[^,;:.()]{{3,90}}),\s(?P<aside>{_DONE}\s[^,;:()]{{4,120}}),\s(?P<rest>{_IS}\b.+)",
    re.DOTALL,
)
_BEFORE = re.compile(
    rf"(?P<aside>(?i:{_DONE})\s[^,;:()]{{4,120}}),\s(?P<subject>(?:the|[A-Z])(?:(?!\b{_IS}\b)[^,;:()]){{2,90}})\s"
    rf"(?P<rest>{_IS}\b.+)",
    re.DOTALL,
)


def parted(claim: str) -> tuple[str, str] | None:
    """Both statements with the subject; None for a claim that is no such one."""
    text = claim.strip()
    found = _WITHIN.fullmatch(text) or _BEFORE.fullmatch(text)
    if found is None:
        return None
    aside = found["aside"]
    return f"{found['subject']} was {aside[0].lower()}{aside[1:]}", f"{found['subject']} {found['rest']}"
