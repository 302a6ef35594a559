"""Keys in the admin: shown once, revoked, never changed."""

import re

import pytest
from django.test import Client

from documents import api_keys
from documents.models import ApiKey, Collection

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/admin/documents/apikey/"


def test_a_key_is_made_and_shown_this_once(admin_client: Client) -> None:
    law = Collection.objects.create(name="law")
    form = {
        "name": "Laptop",
        "scope": "write",
        "collections": [str(law.id)],
        "expires_at": "2999-01-01 12:00",
    }

    shown = admin_client.post(f"{URL}add/", form, follow=True).content.decode()

    found = re.search(r"kx_[a-z0-9]{8}_[A-Za-z0-9_-]{43}", shown)
    assert found
    key = ApiKey.objects.get()
    assert (key.hash, key.scope, key.bound_to) == (api_keys.hash_key(found[0]), "write", "law")
    for page in (URL, f"{URL}{key.id}/change/", f"{URL}{key.id}/history/"):
        again = admin_client.get(page).content.decode()
        assert found[0][12:] not in again
        assert key.hash not in again
    assert key.prefix in admin_client.get(URL).content.decode()


@pytest.mark.parametrize("field", [{"name": " "}, {"scope": "root"}, {"expires_at": "2020-01-01"}])
def test_what_cannot_be_is_told_at_the_form(admin_client: Client, field: dict[str, str]) -> None:
    reply = admin_client.post(f"{URL}add/", {"name": "a", "scope": "read", "expires_at": "", **field})

    assert reply.status_code == 200
    assert "errorlist" in reply.content.decode()
    assert not ApiKey.objects.exists()


def test_a_key_is_revoked_and_stays_on_record(admin_client: Client) -> None:
    key, _ = api_keys.create_key(name="Laptop")

    admin_client.post(URL, {"action": "revoke", "_selected_action": [str(key.id)]})

    assert ApiKey.objects.get().state == "revoked"
    assert "revoked" in admin_client.get(URL).content.decode()
    assert admin_client.post(f"{URL}{key.id}/delete/", {"post": "yes"}).status_code == 403
    assert admin_client.post(f"{URL}{key.id}/change/", {"name": "b"}).status_code == 403
