from django.apps import AppConfig


class KnowlexConfig(AppConfig):
    name = "knowlex"

    def ready(self) -> None:
        """The Celery app must be there before a task is called, or it would use Celery's own default broker."""
        from knowlex import celery  # noqa: F401
