"""The routes of the Platform API. Ids are plain text, so that a malformed one is a 400 and no 404."""

from django.urls import path

from knowlex.common.methods import methods
from rag.contracts.v1 import collections

_COLLECTION = "v1/collections/<str:collection_id>"

urlpatterns = [
    path("v1/collections", methods(GET=collections.index, POST=collections.create)),
    path(
        _COLLECTION,
        methods(GET=collections.show, PATCH=collections.change),
    ),
    path(f"{_COLLECTION}/stats", methods(GET=collections.stats)),
]
