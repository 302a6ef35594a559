"""What callers say of answers: one word each, which they may change."""

from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError
from django.utils.crypto import salted_hmac

from documents.access import Access
from knowlex.db.threads import with_retries
from rag.history.queries import ensure_visible, query_not_found
from rag.models import Feedback


@dataclass(frozen=True, slots=True)
class FeedbackInput:
    """What a caller says; None leaves it as it was. rating: thumbs_up or thumbs_down. comment: "" takes
    it back.
    """

    rating: str | None = None
    comment: str | None = None


def identify_caller(access: Access, address: str) -> str:
    """Return the name that feedback is kept under: the account's or key's id, or a hash of the address."""
    if access.user_id is not None:
        return f"account:{access.user_id}"
    if access.key_id is not None:
        return f"key:{access.key_id}"
    return f"address:{salted_hmac('knowlex.feedback', address, algorithm='sha256').hexdigest()}"


def give_feedback(query_id: UUID, said: FeedbackInput, *, access: Access, caller: str) -> Feedback:
    """Store it, or change what this caller said before. Raises NotFound, DatabaseUnavailable."""
    ensure_visible(query_id, access=access)
    try:
        return with_retries(lambda: _upsert(query_id, caller, said))
    except IntegrityError as exc:
        raise query_not_found(query_id) from exc  # deleted in this very moment


def _upsert(query_id: UUID, caller: str, said: FeedbackInput) -> Feedback:
    """Store feedback in one statement, so that two at once do no harm."""
    given = [said.rating, said.comment]
    return Feedback.objects.raw(_UPSERT, [query_id, caller, *given, *given])[0]


_UPSERT = """
    INSERT INTO rag_feedback AS f (query_id, caller, rating, comment, created_at, updated_at)
    VALUES (%s, %s, coalesce(%s, ''), coalesce(%s, ''), now(), now())
    ON CONFLICT (query_id, caller) DO UPDATE
    SET rating = coalesce(%s, f.rating), comment = coalesce(%s, f.comment), updated_at = now()
    RETURNING *
"""
