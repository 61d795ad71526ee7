"""Encryption at rest of secrets in the database."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class SecretUnreadableError(Exception):
    """A stored secret was encrypted with a key that is no longer configured."""


class SecretCipher:
    """Encrypts with the first key and decrypts with any (Fernet specification).

    A key is 32 random bytes in Base64. To rotate, put a new key before the old ones; remove the old ones
    once every secret is encrypted with the new key.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        """Read the keys.

        Raises:
            ValueError: there is no key, or one is not 32 bytes in Base64.
        """
        ciphers = [Fernet(key) for key in keys]
        if not ciphers:
            raise ValueError("no key")
        self._newest = ciphers[0]
        self._all = MultiFernet(ciphers)

    def encrypt(self, secret: str) -> str:
        """Return a token of ASCII characters; each call returns a different one."""
        return self._all.encrypt(secret.encode()).decode("ascii")

    def decrypt(self, token: str) -> str:
        """Return the secret of a token.

        Raises:
            SecretUnreadableError: no key decrypts it.
        """
        try:
            return self._all.decrypt(token.encode()).decode()
        except InvalidToken as error:
            raise SecretUnreadableError(
                "the secret was encrypted with a key that is not in PRESSROOM_SECRET_KEYS"
            ) from error

    def is_current(self, token: str) -> bool:
        """Return whether a token was encrypted with the newest key."""
        try:
            self._newest.decrypt(token.encode())
        except InvalidToken:
            return False
        return True


def new_key() -> str:
    """Return a random key."""
    return Fernet.generate_key().decode("ascii")
