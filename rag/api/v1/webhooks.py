"""/v1/webhooks: addresses that are told when a job, a sync or an evaluation ends. Admin keys only."""

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from documents import webhooks
from documents.access import access_of
from documents.ingest.fetch_addresses import MAX_URL_CHARS
from documents.webhooks import EVENTS, SHOWN_DELIVERIES
from knowlex.base.errors import InvalidInput
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import PageParameters, sorting
from knowlex.web.responses import body_response, no_content
from knowlex.web.shapes import (
    Count,
    InputShape,
    Omittable,
    OutputShape,
    TextOrNull,
    Time,
    choice,
    read_body,
    read_parameters,
    text,
)
from rag.api.v1.parameters import Cursor

Url = Annotated[
    str,
    text(MAX_URL_CHARS),
    Field(description="http or https. Private addresses only where KNOWLEX_URL_ALLOWED_HOSTS lists them."),
]
Events = Annotated[
    list[Annotated[str, choice(*EVENTS)]],
    Field(description="Of which it is told; at least one.", json_schema_extra={"minItems": 1}),
]


class NewWebhook(InputShape):
    model_config = ConfigDict(
        json_schema_extra={"example": {"url": "https://example.com/knowlex", "events": ["job.ended"]}}
    )

    url: Url
    events: Events = list(EVENTS)


class WebhookChanges(InputShape):
    """At least one of them; the secret stays."""

    model_config = ConfigDict(json_schema_extra={"example": {"events": ["evaluation.ended"]}})

    url: Omittable[Url] = None
    events: Omittable[Events] = None


class WebhookListParameters(PageParameters):
    sort: SkipJsonSchema[Annotated[str, sorting("created_at")]] = ""


class WebhookShape(OutputShape):
    id: UUID
    url: str
    events: list[str]
    created_at: Time


class MadeWebhook(WebhookShape):
    secret: Annotated[str, Field(description="Checks the signatures; shown this once.")]


class DeliveryShape(OutputShape):
    id: Annotated[UUID, Field(description="What the header webhook-id says.")]
    event: str
    status: Literal["pending", "delivered", "failed"]
    attempts: Count
    response_status: Annotated[int | None, Field(description="Of the last answer; null without one.")]
    error: TextOrNull
    created_at: Time
    due_at: Annotated[Time, Field(description="Of the next try, while pending.")]
    ended_at: Time | None


class WebhookWithDeliveries(WebhookShape):
    deliveries: Annotated[
        list[DeliveryShape], Field(description=f"The last {SHOWN_DELIVERIES}, newest first.")
    ]


class WebhookList(OutputShape):
    webhooks: list[WebhookShape]
    next_cursor: Cursor


@operation(
    "createWebhook",
    "Have an address told when work ends",
    answer(201, "Made; the secret is shown this once.", MadeWebhook),
    body=NewWebhook,
    description="Messages are signed as https://www.standardwebhooks.com says; see docs/webhooks.md.",
)
def create(request: HttpRequest) -> HttpResponse:
    new = read_body(request, NewWebhook)
    webhook, secret = webhooks.create_webhook(access=access_of(request), url=new.url, events=new.events)
    location = f"/v1/webhooks/{webhook.id}"
    return body_response(MadeWebhook.of(webhook, secret=secret), 201, location=location)


@operation(
    "listWebhooks",
    "List webhooks, newest first",
    answer(200, "One page.", WebhookList),
    parameters=WebhookListParameters,
)
def index(request: HttpRequest) -> HttpResponse:
    page = read_parameters(request, WebhookListParameters).page("webhooks")
    rows, after = webhooks.list_webhooks(access=access_of(request), page=page)
    shapes = [WebhookShape.of(row) for row in rows]
    return body_response(WebhookList(webhooks=shapes, next_cursor=page.next_cursor(after)))


@operation(
    "getWebhook",
    "A webhook and what it was told",
    answer(200, "The webhook.", WebhookWithDeliveries),
)
def show(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    webhook = webhooks.get_webhook(webhook_id, access=access_of(request))
    deliveries = [DeliveryShape.of(row) for row in webhooks.list_deliveries(webhook)]
    return body_response(WebhookWithDeliveries.of(webhook, deliveries=deliveries))


@operation(
    "changeWebhook",
    "Change a webhook's address or events",
    answer(200, "Changed.", WebhookShape),
    body=WebhookChanges,
)
def change(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    given = read_body(request, WebhookChanges)
    if given.url is None and given.events is None:
        raise InvalidInput("Give at least one of url and events.")
    changed = webhooks.change_webhook(
        webhook_id, access=access_of(request), url=given.url, events=given.events
    )
    return body_response(WebhookShape.of(changed))


@operation("deleteWebhook", "Delete a webhook with what it was to be told", answer(204, "Deleted."))
def remove(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    webhooks.delete_webhook(webhook_id, access=access_of(request))
    return no_content()
