"""Knowlex's own settings, but a password is checked in no time; tests/stack logs in as it is in truth."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from knowlex.settings import *  # noqa: F403


class QuickHasher(PBKDF2PasswordHasher):
    iterations = 1


PASSWORD_HASHERS = ["tests.keys.settings.QuickHasher"]
