"""The keys that represent people who sign in at a provider (decision 0376).

Such a key has no secret: its digest is that of a text which is no API key. So requests cannot send it;
only sessions of the Studio refer to it.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from sqlalchemy import select, update

from shared.auth.accounts import SIGN_IN_DISPLAY
from shared.auth.scopes import Scope, encode_scopes
from shared.clock import now
from shared.db.queries import insert_or_ignore
from shared.db.session import Session
from shared.db.tables import api_keys, users
from shared.identifiers import new_id


class SignInRevokedError(Exception):
    """The key of a person is revoked."""


def digest_person(account_id: str, issuer: str, subject: str) -> str:
    """Return the digest of the key of a person in an account; the provider never reuses a subject."""
    return sha256(f"oidc\n{account_id}\n{issuer}\n{subject}".encode()).hexdigest()


def record_sign_in(
    session: Session,
    account_id: str,
    digest: str,
    *,
    name: str,
    scopes: frozenset[Scope],
    expires_at: datetime,
) -> None:
    """Make the key of a person, or set its name, scopes and expiry to those of this sign-in.

    Raises:
        LookupError: there is no such account.
        SignInRevokedError: the key is revoked, which a sign-in does not undo.
    """
    user_id = session.scalar(
        select(users.c.id).where(users.c.account_id == account_id).order_by(users.c.id).limit(1)
    )
    if user_id is None:
        raise LookupError(f"There is no account {account_id!r}.")
    given = {"name": name, "scopes": encode_scopes(scopes), "expires_at": expires_at}
    row = {
        "id": new_id("key"),
        "account_id": account_id,
        "user_id": user_id,
        "digest": digest,
        "display": SIGN_IN_DISPLAY,
        "created_at": now(),
        **given,
    }
    session.execute(insert_or_ignore(session, api_keys, row))
    changed = session.execute(
        update(api_keys)
        .where(api_keys.c.digest == digest, api_keys.c.revoked_at.is_(None))
        .values(**given)
    )
    if not changed.rowcount:
        raise SignInRevokedError


def restore_sign_in(session: Session, key_id: str) -> tuple[str, str]:
    """Restore the revoked key of a person; return its account and digest.

    The caller has ended the sessions of the key, which would otherwise work after the next sign-in.

    Raises:
        LookupError: there is no such key of a person.
    """
    row = session.execute(
        select(api_keys.c.account_id, api_keys.c.digest).where(
            api_keys.c.id == key_id, api_keys.c.display == SIGN_IN_DISPLAY
        )
    ).first()
    if row is None:
        raise LookupError(f"There is no key {key_id!r} of single sign-on.")
    session.execute(
        update(api_keys)
        .where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_not(None))
        .values(revoked_at=None, expires_at=now())
    )
    return row.account_id, row.digest
