from django.apps import AppConfig


class EmbeddingsConfig(AppConfig):
    name = "embeddings"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Celery's signals start the sweeper in a worker; in other processes they never fire."""
        from embeddings import sweeper  # noqa: F401
