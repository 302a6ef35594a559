"""The vector store outside PostgreSQL, and what it is still to hear of."""

from typing import Any

from django.contrib import admin

from embeddings.admin.models import ReadOnlyAdmin
from embeddings.models import DroppedSpace, OutboxEntry, OutsideStore


@admin.register(OutsideStore)
class OutsideStoreAdmin(ReadOnlyAdmin):
    """One line, or none where PostgreSQL is searched; `manage.py vector_store check` tells more."""

    list_display = ["__str__", "since", "pending", "oldest", "state"]
    list_display_links = None

    @admin.display(description="in the outbox")
    def pending(self, store: OutsideStore) -> str:
        count, spaces = OutboxEntry.objects.count(), DroppedSpace.objects.count()
        waits = f"{count} vectors" + (f", {spaces} spaces to drop" if spaces else "")
        return waits if store.filled else f"{waits}, and it is still being filled"

    @admin.display(description="waiting since")
    def oldest(self, store: OutsideStore) -> Any:
        return OutboxEntry.objects.order_by("created_at").values_list("created_at", flat=True).first()

    def state(self, store: OutsideStore) -> str:
        if store.failures:
            return f"down, {store.failures} failures: {store.error}"
        refused = OutboxEntry.objects.exclude(error="").values_list("error", flat=True).first()
        return f"refuses: {refused}" if refused else "works"
