"""Commands on a stack's database and files, in the tests' own process: another one takes seconds to start."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from tests.support.stack import Stack

blocker: DjangoDbBlocker | None = (
    None  # set by tests/conftest.py: without it tests reach no database but their own
)


@contextmanager
def on(stack: Stack, **settings: Any) -> Iterator[None]:
    """Django's connection and file storage lead to the stack's, which is on the tests' own cluster.

    settings: what else differs from those of the tests.
    """
    assert blocker is not None
    with blocker.unblock(), override_settings(MEDIA_ROOT=stack.folder / "files", **settings):
        connection.close()
        name, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], stack.database
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = name


def manage(stack: Stack, *words: str) -> str:
    """As Stack.manage, for a command that needs only the database and the files."""
    out = io.StringIO()
    with on(stack):
        call_command(*words, stdout=out)
    return out.getvalue()
