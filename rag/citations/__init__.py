"""Reading replies of chat models, and judging their claims by the passages that they cite.

A reply is read as it comes
    `checker`     takes pieces of a reply, gives back its text with the markers that stay, and what was found
    `sentences`   a reply in pieces -> its sentences; `ends` says where one ends
    `claims`      a sentence without its markers, and what each of them stands behind
    `markers`     the forms in which models write markers; `leads`, `listing`, what names a source otherwise
    `refusals`    how a model says that the passages do not tell

A claim is judged
    `judge`       exact, supported, unverified or contradicted, by facts and words
    `windows`     where the passages speak of what the claim speaks of
    `agreement`   whether two texts agree in what can be compared
    `facts`       numbers with units, months and names of a text; its words are in `data/`
    `folding`     text as it is compared word for word
    `faithfulness`   how much of a whole answer is verified
    `types`       what a judge is asked, and what it finds
"""

from rag.citations.markers import claim, settle, without_markers

__all__ = ["claim", "settle", "without_markers"]
