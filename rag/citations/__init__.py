"""Reading replies of chat models, and judging their claims by the passages that they cite.

A reply is read as it comes
    `checker`     takes pieces of a reply, gives back its text with the markers that stay, and what was found
    `sentences`   a reply in pieces -> its sentences, and the leads that only name a source
    `claims`      a sentence without its markers, and what each of them stands behind; lists of references
    `markers`     the forms in which models write markers
    `refusals`    how a model says that the passages do not tell

A claim is judged
    `judge`       exact, supported, unverified or contradicted, by facts and words
    `windows`     where the passages speak of what the claim speaks of
    `agreement`   whether two texts agree in what can be compared
    `facts`       numbers with units, months and names of a text; its words are in `data/`
    `folding`     text as it is compared word for word

An answer is shown
    `numbering`   its markers as each face numbers them, whole or piece by piece
"""

from rag.citations.markers import claim, settle, without_markers

__all__ = ["claim", "settle", "without_markers"]
