"""Which claims of a reply are supported by the passages that it cites: by words alone, without a model.

A reply is read as it comes
    `checker`               takes pieces of a reply, gives back what has been checked
    `spaces`, `segments`, `ends`    sentences, the same ones however the reply is cut
    `reply`                 a sentence with the markers that are true; `breaths` lets others have their turn
    `markers`, `leads`, `listing`, `repeats`, `refusals`   what models write besides claims
    `claims`, `support`, `rendering`   what each marker stands behind, which passages say it, written again
    `flow`                  what of an unfinished sentence can be shown already

A claim is judged
    `judge`                 word for word, or else by what it says
    `normal`, `references`  text as it is compared word for word
    `windows`               which sentences of a passage say it: one, or up to three
    `agreement`             whether a sentence says what a claim says: asks most of what follows
    `statements`, `words`, `numbers`, `dates`, `days`, `phrases`   both taken apart
    `phrasings`             turns of speech, written as the one word that they stand for
    `negations`, `prefixes`, `certainty`, `tenses`   denied, unsure, past, on a condition
    `order`, `roles`, `subjects`, `crossing`, `links`   who does what to whom, and not another one
    `scopes`                of whom it is said
    `comparisons`, `comparatives`   "A is larger than B"
    `synonyms`, `thesaurus` a word for another one
    `rewording`, `asides`, `stretches`   the same in other words, with another claim inside, or in part
    `foreign`               a claim in another language than its passage
    `vocabulary`, `grammar` the words that decide

    `faithfulness`          how much of a whole answer is supported
    `types`                 what checking finds out
"""
