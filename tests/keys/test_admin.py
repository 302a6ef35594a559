"""Keys in the admin: shown once, revoked, never changed."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from documents import api_keys
from documents.models import ApiKey, Collection, CollectionMember

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/admin/documents/apikey/"


def test_a_key_is_made_and_shown_this_once(admin_client: Client) -> None:
    law = Collection.objects.create(name="law")
    form = {
        "name": "Laptop",
        "scope": "write",
        "collections": [str(law.id)],
        "expires_at": "2999-01-01 12:00",
        "daily_tokens": "5000",
    }

    shown = admin_client.post(f"{URL}add/", form, follow=True).content.decode()

    found = re.search(r"kx_[a-z0-9]{8}_[A-Za-z0-9_-]{43}", shown)
    assert found
    key = ApiKey.objects.get()
    assert (key.hash, key.scope, key.bound_to) == (api_keys.hash_key(found[0]), "write", "law")
    assert key.daily_tokens == 5000
    for page in (URL, f"{URL}{key.id}/change/", f"{URL}{key.id}/history/"):
        again = admin_client.get(page).content.decode()
        assert found[0][12:] not in again
        assert key.hash not in again
    assert key.prefix in admin_client.get(URL).content.decode()


def test_an_account_goes_with_its_keys_and_roles(admin_client: Client) -> None:
    ann = User.objects.create_user("ann")
    api_keys.create_key(name="Laptop", user=ann)
    law = Collection.objects.create(name="law")
    CollectionMember.objects.create(collection=law, user=ann)

    page = admin_client.post(f"/admin/auth/user/{ann.pk}/delete/", {"post": "yes"}, follow=True)

    assert "was deleted successfully" in page.content.decode()
    assert not User.objects.filter(username="ann").exists()
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    "field", [{"name": " "}, {"scope": "root"}, {"expires_at": "2020-01-01"}, {"daily_tokens": "0"}]
)
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


def test_a_key_of_an_account_is_made_and_shown_with_it(admin_client: Client) -> None:
    ann = User.objects.create(username="ann")
    form = {"name": "Laptop", "user": str(ann.pk), "scope": "admin", "expires_at": ""}

    admin_client.post(f"{URL}add/", form)

    assert ApiKey.objects.get().user == ann
    assert "ann" in admin_client.get(URL).content.decode()


def test_members_are_given_roles_on_the_collections_page(admin_client: Client) -> None:
    law = Collection.objects.create(name="law")
    ann, lawyers = User.objects.create(username="ann"), Group.objects.create(name="lawyers")
    page = f"/admin/documents/collection/{law.pk}/change/"
    form = {name: value for name, value in initial_of(admin_client.get(page)).items() if value is not None}
    form |= {
        "members-TOTAL_FORMS": "2",
        "members-INITIAL_FORMS": "0",
        "members-0-user": str(ann.pk),
        "members-0-role": "write",
        "members-1-group": str(lawyers.pk),
        "members-1-role": "read",
    }

    reply = admin_client.post(page, form)

    assert reply.status_code == 302, reply.content.decode()
    rows = CollectionMember.objects.order_by("id").values_list("user__username", "group__name", "role")
    assert list(rows) == [("ann", None, "write"), (None, "lawyers", "read")]
    shown = admin_client.get("/admin/documents/collectionmember/").content.decode()
    assert "lawyers" in shown
    assert "law" in shown


@pytest.mark.parametrize("both", [True, False])
def test_a_member_is_an_account_or_a_group_and_never_both(admin_client: Client, both: bool) -> None:
    law = Collection.objects.create(name="law")
    ann, lawyers = User.objects.create(username="ann"), Group.objects.create(name="lawyers")
    given = {"user": str(ann.pk), "group": str(lawyers.pk)} if both else {}

    reply = admin_client.post(
        "/admin/documents/collectionmember/add/", {"collection": str(law.pk), "role": "read", **given}
    )

    assert "Choose an account or a group, and not both." in reply.content.decode()
    assert not CollectionMember.objects.exists()


def test_a_collection_takes_its_members_along() -> None:
    law = Collection.objects.create(name="law")
    CollectionMember.objects.create(collection=law, user=User.objects.create(username="ann"))
    law.delete()
    assert not CollectionMember.objects.exists()


def initial_of(page: Any) -> dict[str, Any]:
    form = page.context["adminform"].form
    return {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
