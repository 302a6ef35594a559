"""`manage.py build_model`: make a local embedding model ready, so that no request waits for it."""

from argparse import ArgumentParser
from importlib.util import find_spec
from typing import Any

from knowlex.environment import LOCAL_MODELS
from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = "Builds the int8 graph of a local embedding model, unless it is there already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default=LOCAL_MODELS[0], choices=LOCAL_MODELS)
        parser.add_argument("--all", action="store_true", help="each whose package is installed")

    def handle(self, *args: Any, name: str, all: bool, **options: Any) -> None:
        from django.conf import settings

        from embeddings.embedders.build import ensure_model
        from embeddings.embedders.choosing import SOURCES

        installed = [known for known in LOCAL_MODELS if find_spec(SOURCES[known].package)]
        for chosen in installed if all else [name]:
            built = ensure_model(settings.MODELS_DIR, SOURCES[chosen])
            self.stdout.write(f"Local embedding model: {built.name}")
