from django.apps import AppConfig


class EmbeddingsConfig(AppConfig):
    name = "embeddings"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell psycopg how vectors are sent: a connection knows what was registered before it was opened."""
        from embeddings.vectors import binary  # noqa: F401
