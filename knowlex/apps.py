from django.apps import AppConfig


class KnowlexConfig(AppConfig):
    name = "knowlex"

    def ready(self) -> None:
        """Make the Celery app before a task is called, which would else go to Celery's own default broker."""
        from knowlex import celery  # noqa: F401
