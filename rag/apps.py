from django.apps import AppConfig


class RagConfig(AppConfig):
    name = "rag"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """What workers look for besides documents: evaluations in nobody's hand, answers, old questions."""
        from embeddings.work.sweeper import also_sweep
        from rag import tasks

        also_sweep(tasks.sweep)
        also_sweep(tasks.sweep_answers)
        also_sweep(tasks.sweep_queries)
