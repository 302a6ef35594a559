"""Makes the few chunks that a caller may read too many to compare them all: the vector store is asked."""

import django

_setup = django.setup


def setup_asking_always(set_prefix: bool = True) -> None:
    """Set Django up, then let no search be narrow."""
    _setup(set_prefix)
    from rag.retrievers import scope

    scope.NARROW = 0


django.setup = setup_asking_always
