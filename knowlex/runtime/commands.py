"""The base of our commands."""

from django.core.management.base import BaseCommand


class ProjectCommand(BaseCommand):
    """A command that starts without Django's system checks.

    They import all routes, which takes longer than most commands do; `manage.py check` runs them. What is set
    wrong is told by the part that needs it.
    """

    requires_system_checks: list[str] = []
