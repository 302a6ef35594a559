from django.apps import AppConfig


class RagConfig(AppConfig):
    name = "rag"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Workers look for evaluations that nobody has in hand, as for documents, and for old questions."""
        from embeddings.sweeper import also_sweep
        from rag import tasks

        also_sweep(tasks.sweep)
        also_sweep(tasks.sweep_queries)
