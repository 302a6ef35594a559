"""Webhooks in the admin: made with a secret that is shown once, and what they were told."""

import pytest
from django.test import Client
from django.utils import timezone

from documents.models import Webhook, WebhookDelivery

pytestmark = pytest.mark.django_db(transaction=True)
ADD = "/admin/documents/webhook/add/"


def test_a_webhook_is_made_with_a_secret_that_is_shown_once(admin_client: Client) -> None:
    form = {"url": "https://hooks.example/told", "events": ["job.ended"]}
    made = admin_client.post(ADD, form, follow=True).content.decode()

    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.events) == (form["url"], form["events"])
    assert made.count("whsec_") == 1
    for path in ("", f"{webhook.pk}/change/"):
        page = admin_client.get(f"/admin/documents/webhook/{path}").content.decode()
        assert form["url"] in page
        assert "whsec_" not in page
        assert webhook.secret not in page


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"url": "http://10.0.0.1/", "events": ["job.ended"]}, "not on the public internet"),
        ({"url": "https://hooks.example/"}, "This field is required"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(admin_client: Client, form: dict[str, object], said: str) -> None:
    page = admin_client.post(ADD, form)
    assert said in str(page.context["adminform"].form.errors)
    assert not Webhook.objects.exists()


def test_deliveries_are_shown_and_go_with_their_webhook(admin_client: Client) -> None:
    webhook = Webhook.objects.create(url="https://hooks.example/", events=["job.ended"], secret="x")
    WebhookDelivery.objects.create(
        webhook=webhook,
        event="job.ended",
        body="{}",
        due_at=timezone.now(),
        error="The address answered 500.",
    )
    page = admin_client.get("/admin/documents/webhookdelivery/?status__exact=pending").content.decode()
    assert "The address answered 500." in page
    admin_client.post(f"/admin/documents/webhook/{webhook.pk}/delete/", {"post": "yes"})
    assert (Webhook.objects.count(), WebhookDelivery.objects.count()) == (0, 0)
