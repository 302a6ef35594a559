"""Why a question found nothing at all. Plain Python.

Of several that hold, the first is told that the reader has to mend first:

1. `no_documents`: none in the collections that are read, and none on its way.
2. `embeddings_pending`: none yet, but some are being read; or those that the filters let through wait to be
   embedded. Waiting helps.
3. `filtered_out`: there are documents, and the filters let none of their chunks through. Waiting does not.
4. `below_threshold`: there is text to be found, and the question found none of it (`sparse` and `exact`).

`below_threshold` is also the reason where passages were found and none is relevant enough; `not_supported`
and `model_declined` come later, from what a synthesizer said of relevant passages.
"""

from typing import NamedTuple

from rag.types.answer import Reason


class Holdings(NamedTuple):
    """Of the collections that are read. documents: any. awaited: any is being read. passing: any chunk passes
    the filters; findable: any of those can be found by search.
    """

    documents: bool
    awaited: bool
    passing: bool
    findable: bool


def reason_of(held: Holdings) -> Reason:
    if not held.documents:
        return "embeddings_pending" if held.awaited else "no_documents"
    if not held.passing:
        return "filtered_out"
    return "below_threshold" if held.findable else "embeddings_pending"
