from django.apps import AppConfig


class RagConfig(AppConfig):
    name = "rag"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what workers look for besides documents: evaluations in nobody's hand, answers, old
        questions.
        """
        from embeddings.sweeper import add_sweep_work
        from rag import tasks

        add_sweep_work(tasks.sweep)
        add_sweep_work(tasks.sweep_answers)
        add_sweep_work(tasks.sweep_queries)
