from django.apps import AppConfig


class KnowlexConfig(AppConfig):
    name = "knowlex"

    def ready(self) -> None:
        """Make the Celery app before a task is called, which would else go to Celery's own default broker.

        And have the tokens of models counted, and no lock outlive its host for long.
        """
        from knowlex import celery  # noqa: F401
        from knowlex.base import spending
        from knowlex.db.silence import free_locks_of_lost_hosts
        from knowlex.runtime.spending import daily_tokens

        spending.keep_in(daily_tokens)
        free_locks_of_lost_hosts()
