"""`manage.py build_model`: make the local embedding model ready, so that no request waits for it."""

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Builds the int8 graph of the local embedding model, unless it is there already."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from django.conf import settings

        from embeddings.embedders.build import ensure_model

        self.stdout.write(f"Local embedding model: {ensure_model(settings.MODELS_DIR).name}")
