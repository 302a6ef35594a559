"""A command that works beside workers, or without any."""

import pytest
import redis
from django.conf import settings

from embeddings import local_worker
from embeddings.local_worker import LocalWorker


@pytest.mark.django_db(transaction=True)
def test_looking_for_workers_again_and_again_holds_no_more_connections(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local_worker, "LOOK_FOR_WORKERS_S", 0.0)
    alone: list[bool] = []
    worker = LocalWorker(lambda: alone.append(True))
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        before = len(client.client_list())
        for _ in range(5):
            worker.work()
        assert len(client.client_list()) <= before + 1
    assert alone == [True]
