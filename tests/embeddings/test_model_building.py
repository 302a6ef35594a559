"""`embedding_model build` beside workers, or without any."""

import time

import pytest
import redis
from django.conf import settings

from embeddings.model_lifecycle import building
from embeddings.model_lifecycle.building import LocalWorker


@pytest.mark.django_db(transaction=True)
def test_looking_for_workers_again_and_again_holds_no_more_connections(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(building, "LOOK_FOR_WORKERS_S", 0.0)
    alone: list[bool] = []
    hands = LocalWorker(lambda: alone.append(True))
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        before = len(client.client_list())
        for _ in range(5):
            hands.work(until=time.monotonic())
        assert len(client.client_list()) <= before + 1
    assert alone == [True]
