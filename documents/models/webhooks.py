"""Addresses that are told when work ends, and what each of them was told or is to be told."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from knowlex.base.ids import new_id


class Webhook(models.Model):
    """An address. events: of documents.webhooks. secret: encrypted; it signs what is sent there."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    url = models.TextField()
    events = ArrayField(models.TextField())
    secret = models.TextField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One message to one address.

    body: the JSON that is signed and sent, the same at each try. due_at: of the next try. attempts: tries
    so far. lease: token of the worker that sends it. response_status: of the last answer, if there was one.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, models.DO_NOTHING, related_name="deliveries", db_constraint=False)
    event = models.TextField()
    body = models.TextField()
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    due_at = models.DateTimeField()
    attempts = models.IntegerField(default=0)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    response_status = models.IntegerField(null=True)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(status="pending"), name="webhook_deliveries_due"
            ),
            models.Index(fields=["webhook", "created_at"], name="webhook_deliveries_by_age"),
        ]

    def __str__(self) -> str:
        return str(self.id)
