from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from knowlex.db.pool import close_pool
from rag.history.recorder import Recorder, recorder
from tests.history.asking import Library, make_library
from tests.support.stack import Stack


@pytest.fixture
async def recording(transactional_db: None) -> AsyncIterator[Recorder]:
    """The recorder of the test's own loop; what waits at the end is written."""
    yield recorder.get()
    one = recorder.take()
    if one is not None:
        await one.close()
    await close_pool()
    await sync_to_async(connections.close_all)()


@pytest.fixture
def library(server: Stack) -> Library:
    return make_library(server)
