"""The sweeps for work that no worker has: they rest while nothing happens."""

import pytest

from documents.models import Collection
from embeddings.sweeper import Rest
from tests.support.waiting import wait_until


@pytest.mark.django_db(transaction=True)
def test_sweeps_rest_while_nothing_is_written_and_go_on_with_the_next_write() -> None:
    rest = Rest(quiet_s=0.1, every_s=600)
    assert rest.is_over()
    wait_until(lambda: not rest.is_over(), what="a rest")
    Collection.objects.create(name="Minutes")
    assert rest.is_over()
