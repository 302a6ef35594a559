"""What a data folder needs before it can serve: tables, the collection `default`, the model, an admin."""

import os
import secrets
import sys
from collections.abc import Callable
from io import StringIO

import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from redis.exceptions import RedisError

from documents.api_keys import has_live_key
from documents.models import Collection
from embeddings import services as embeddings
from embeddings.active_model import describe_former_model
from embeddings.external.configuration import register_store
from knowlex.base.retry import Retry
from knowlex.embedded.data_folder import StackError
from knowlex.embedded.report import check_files, check_vector_store
from knowlex.environment import LOCAL_MODELS, describe_unknown_variables
from rag.answering import lifecycle as rag

MIGRATION_LOCK = 7_105_201  # any number, the same in every process: two starts migrate one after the other
PASSWORD_FILE = "admin_password"  # noqa: S105 - a name
MAKE_KEY = "python manage.py create_api_key NAME --scope write"
EXTERNAL = Retry(retries=3, base_s=1.0)  # a container beside us may just be starting


def prepare(say: Callable[[str], None]) -> None:
    """Make everything ready; `say` hears where the admin's password is if the account is made now.

    Raises StackError: the database cannot be reached, is of too old a Knowlex, or its vectors are not of the
    configured model.
    """
    for sentence in describe_unknown_variables():
        say(sentence)
    try:
        EXTERNAL.call(connection.ensure_connection, retry_on=(OperationalError,))
    except OperationalError as exc:
        raise StackError(f"The database (DATABASE_URL) cannot be reached: {str(exc).strip()}") from exc
    migrate_database()
    Collection.objects.get_or_create(name="default")
    name = settings.KNOWLEX["EMBEDDER"]["options"].get("model_name")
    if name in LOCAL_MODELS:
        call_command("build_model", name, stdout=StringIO())
    try:
        embeddings.ensure_model_matches()
        rag.ensure_reranker_works()
        rag.ensure_claim_judge_works()
    except ImproperlyConfigured as exc:
        raise StackError(str(exc)) from exc
    if former := describe_former_model():
        say(former)
    if change := register_store():
        say(str(change))
    store, answers, reason = check_vector_store()
    if not answers:
        say(f"{store} does not answer: {reason} Until it does, questions fail; documents are taken.")
    for place, answers, reason in check_files():
        if not answers:
            say(f"{place}: {reason} Until that is mended, documents are not taken.")
    if password := _create_admin():
        say(_hand_over(password))
    if settings.REQUIRE_API_KEY and not has_live_key():
        say(f"The API asks for a key, and there is none yet. Make one: {MAKE_KEY}")
    connection.close()


def check_broker() -> None:
    """Raises StackError if REDIS_URL does not answer."""
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as client:
        try:
            EXTERNAL.call(client.ping, retry_on=(RedisError, OSError))
        except (RedisError, OSError) as exc:
            raise StackError(f"The broker (REDIS_URL) cannot be reached: {exc}") from exc


def migrate_database() -> None:
    """Raises StackError: it is of too old a Knowlex."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except CommandError as exc:
            raise StackError(str(exc)) from exc
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def _hand_over(password: str) -> str:
    """Return a sentence with the password, or with its file where the sentence does not go to a terminal."""
    if sys.stdout.isatty():
        return f"Admin account made: user admin, password {password} (shown this once)."
    path = settings.DATA_DIR / PASSWORD_FILE
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{password}\n")
    return f"Admin account made: user admin, its password is in {path}. Delete that file when it is read."


def _create_admin() -> str | None:
    """Create the account `admin` and return its password, if there is no account at all yet."""
    password = secrets.token_urlsafe(12)
    with transaction.atomic(), connection.cursor() as cursor:
        # Another start may be about to create it, too.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        if User.objects.exists():
            return None
        User.objects.create_superuser("admin", password=password)
    return password
