from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_out

        from documents import checks  # noqa: F401 - registers them
        from documents.accounts.sessions import note_logout

        user_logged_out.connect(note_logout)
