"""Secrets that are stored, encrypted by a key that is derived from the server's own: who has a copy of the
database alone cannot read them.
"""

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SecretLost(Exception):
    """The secret was encrypted with another key: the server's own has changed since."""


def encrypt_secret(secret: str, *, purpose: str) -> str:
    """Encrypt it; "" stays "". purpose: each has a key of its own."""
    return _fernet(settings.SECRET_KEY, purpose).encrypt(secret.encode()).decode() if secret else ""


def decrypt_secret(stored: str, *, purpose: str) -> str:
    """Return what `encrypt_secret` was given. Raises SecretLost."""
    if not stored:
        return ""
    try:
        return _fernet(settings.SECRET_KEY, purpose).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise SecretLost from None


@lru_cache(maxsize=8)
def _fernet(secret_key: str, purpose: str) -> Fernet:
    """Return the cipher by HKDF (RFC 5869)."""
    derived = HKDF(SHA256(), 32, salt=None, info=f"knowlex {purpose}".encode()).derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
