"""Accounts, users and API keys.

After a change of an account or a key is committed, the caller invalidates the cached states of its keys
(`key_digests_of`, `AdmissionCache.drop`); until then the change has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from msgspec import field
from sqlalchemy import RowMapping, func, insert, or_, select, update

from shared.auth.key_state import KeyState, Rate, parse_rate
from shared.auth.scopes import ALL_SCOPES, Scope, decode_scopes, encode_scopes, list_scopes
from shared.clock import now
from shared.db.session import Session
from shared.db.tables import accounts, api_keys, users, workspaces
from shared.db.user_refs import UserRef
from shared.identifiers import digest_api_key, display_api_key, new_api_key, new_id
from shared.records import Record, ShownRecord, Timestamp, doc

PLANS: Final = ("free", "paid")
# Of the keys that represent people (`sign_in_keys`), in place of the ends of a secret.
SIGN_IN_DISPLAY: Final = "sign-in"
MAX_PAGES: Final = 2**53 - 1  # the largest integer that every JSON parser represents exactly

_EMAIL: Final = re.compile(r"[^\s@\x00-\x1f\x7f]{1,64}@[^\s@\x00-\x1f\x7f]{1,189}\Z")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class CreatedAccount:
    """A new account with its first key; `api_key` is not stored."""

    account_id: str
    workspace_id: str | None
    user: UserRef
    key_id: str
    api_key: str


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key; `api_key` is not stored."""

    key_id: str
    api_key: str


class AccountInfo(Record, frozen=True):
    """An account with its terms and its state."""

    account_id: str = field(name="id")
    name: str
    plan: str
    max_pages: int
    max_draft_pages: int | None
    renewal_day: int
    rate_limit: str | None
    is_disabled: bool
    is_email_verified: bool
    created_at: datetime


class Account(ShownRecord, frozen=True):
    """The account of a request, its user and its key."""

    id: Annotated[str, doc("Id of the account.")]
    user: UserRef
    key_id: Annotated[str, doc("Id of the key of the request.")]
    scopes: Sequence[Scope]
    plan: str
    has_workspace: Annotated[
        bool, doc("Whether the account has a workspace for slugs, images and fonts.")
    ]
    rate_limit: Rate | None = None


class Key(ShownRecord, frozen=True, kw_only=True):
    """A key without its secret."""

    key_id: Annotated[str, doc("Id of the key.")] = field(name="id")
    display: Annotated[
        str,
        doc(
            "Its first 7 and last 4 characters; `sign-in` for one of a person who signs in at a provider."
        ),
    ]
    name: Annotated[str | None, doc("The name set at its creation.")] = None
    scopes: Sequence[Scope]
    user: UserRef
    created_at: Annotated[Timestamp, doc("When it was created.")]
    expires_at: Annotated[Timestamp | None, doc("When it expires; absent if never.")] = None
    revoked_at: Annotated[Timestamp | None, doc("When it was revoked.")] = None
    is_own: Annotated[bool, doc("Whether the request was authenticated with it.")]


def create_account(  # noqa: PLR0913 - the options of the operator command, by name
    session: Session,
    *,
    email: str,
    name: str | None = None,
    plan: str = "free",
    max_pages: int = 1000,
    max_draft_pages: int | None = None,
    renewal_day: int = 1,
    with_workspace: bool = True,
    verified: bool = True,
) -> CreatedAccount:
    """Create an account with one user and one key; the name defaults to the email address.

    Raises:
        ValueError: a value is out of range; the message names it and what is accepted.
    """
    shown_name = email if name is None else name
    _check_person(email, shown_name)
    _check_terms(plan=plan, max_pages=max_pages, max_draft_pages=max_draft_pages)
    _check_renewal_day(renewal_day)
    account_id, at = new_id("acc"), now()
    session.execute(
        insert(accounts).values(
            id=account_id,
            name=shown_name,
            plan=plan,
            max_pages=max_pages,
            max_draft_pages=max_draft_pages,
            renewal_day=renewal_day,
            is_disabled=False,
            is_email_verified=verified,
            created_at=at,
        )
    )
    user = UserRef(new_id("usr"), shown_name, email)
    session.execute(
        insert(users).values(id=user.id, account_id=account_id, name=user.name, email=user.email)
    )
    workspace_id = new_id("wsp") if with_workspace else None
    if workspace_id is not None:
        session.execute(
            insert(workspaces).values(id=workspace_id, account_id=account_id, created_at=at)
        )
    key = create_key(session, account_id)
    return CreatedAccount(account_id, workspace_id, user, key.key_id, key.api_key)


def create_key(
    session: Session,
    account_id: str,
    *,
    expires_at: datetime | None = None,
    name: str | None = None,
    scopes: frozenset[Scope] = ALL_SCOPES,
) -> CreatedKey:
    """Create another key for the account's user; `expires_at` is aware, None means never.

    Raises:
        LookupError: there is no such account.
        ValueError: the name is not 1 to 200 characters without control characters.
    """
    if name is not None:
        _check_name(name)
    user_id = session.scalar(
        select(users.c.id).where(users.c.account_id == account_id).order_by(users.c.id).limit(1)
    )
    if user_id is None:
        raise LookupError(f"There is no account {account_id!r}.")
    key_id, api_key = new_id("key"), new_api_key()
    session.execute(
        insert(api_keys).values(
            id=key_id,
            account_id=account_id,
            user_id=user_id,
            digest=digest_api_key(api_key),
            display=display_api_key(api_key),
            name=name,
            scopes=encode_scopes(scopes),
            created_at=now(),
            expires_at=expires_at,
        )
    )
    return CreatedKey(key_id, api_key)


def revoke_key(session: Session, key_id: str) -> str:
    """Revoke a key and return its digest; a repeated call keeps the first time.

    Raises:
        LookupError: there is no such key.
    """
    digest: str | None = session.scalar(select(api_keys.c.digest).where(api_keys.c.id == key_id))
    if digest is None:
        raise LookupError(f"There is no key {key_id!r}.")
    session.execute(
        update(api_keys)
        .where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=now())
    )
    return digest


def lock_account(session: Session, account_id: str) -> None:
    """Lock an account's row, so that concurrent units of work for an account run one after another."""
    session.execute(select(accounts.c.id).where(accounts.c.id == account_id).with_for_update())


def count_live_keys(session: Session, account_id: str, *, at: datetime) -> int:
    """Count the keys of an account that are neither revoked nor expired, without those of sign-ins."""
    columns = api_keys.c
    query = select(func.count()).where(
        columns.account_id == account_id,
        columns.revoked_at.is_(None),
        columns.display != SIGN_IN_DISPLAY,
        or_(columns.expires_at.is_(None), columns.expires_at > at),
    )
    return session.scalar(query) or 0


def list_keys(session: Session, account_id: str, *, own_key_id: str = "") -> Sequence[Key]:
    """Return the account's keys, oldest first; `own_key_id` is that of the request.

    Raises:
        LookupError: there is no such account.
    """
    _check_account(session, account_id)
    rows = session.execute(
        select(api_keys, users.c.name.label("user_name"), users.c.email.label("user_email"))
        .join(users, api_keys.c.user_id == users.c.id)
        .where(api_keys.c.account_id == account_id)
        .order_by(api_keys.c.created_at, api_keys.c.id)
    )
    return [
        Key.of_row(
            row,
            scopes=list_scopes(decode_scopes(row["scopes"])),
            user=UserRef(row["user_id"], row["user_name"], row["user_email"]),
            is_own=row["id"] == own_key_id,
        )
        for row in rows.mappings()
    ]


def list_accounts(
    session: Session, *, after: str | None = None, limit: int = 1000
) -> Sequence[AccountInfo]:
    """Return accounts ordered by id, those after `after`."""
    query = select(accounts).order_by(accounts.c.id).limit(limit)
    if after is not None:
        query = query.where(accounts.c.id > after)
    return [AccountInfo.of_row(row) for row in session.execute(query).mappings()]


def get_account(session: Session, account_id: str) -> AccountInfo:
    """Return an account.

    Raises:
        LookupError: there is no such account.
    """
    row = session.execute(select(accounts).where(accounts.c.id == account_id)).mappings().first()
    if row is None:
        raise LookupError(f"There is no account {account_id!r}.")
    return AccountInfo.of_row(row)


def set_account(  # noqa: PLR0913 - the options of the operator command, by name
    session: Session,
    account_id: str,
    *,
    plan: str | None = None,
    max_pages: int | None = None,
    max_draft_pages: int | None = None,
    rate_limit: str | None = None,
    disabled: bool | None = None,
    verified: bool | None = None,
) -> None:
    """Change the given terms of an account; None leaves a term unchanged.

    Raises:
        LookupError: there is no such account.
        ValueError: a value is out of range; the message names it and what is accepted.
    """
    _check_account(session, account_id)
    _check_terms(plan=plan, max_pages=max_pages, max_draft_pages=max_draft_pages)
    _check_rate_limit(rate_limit)
    changes = {
        "plan": plan,
        "max_pages": max_pages,
        "max_draft_pages": max_draft_pages,
        "rate_limit": rate_limit,
        "is_disabled": disabled,
        "is_email_verified": verified,
    }
    given = {column: value for column, value in changes.items() if value is not None}
    if given:
        session.execute(update(accounts).where(accounts.c.id == account_id).values(**given))


def key_digests_of(session: Session, account_id: str) -> Sequence[str]:
    """Return the digests of all keys of an account, to invalidate their cached states."""
    query = select(api_keys.c.digest).where(api_keys.c.account_id == account_id)
    return session.scalars(query).all()


def find_key_digest(session: Session, account_id: str, key_id: str) -> str | None:
    """Return the digest of an account's key, None if there is no such key."""
    query = select(api_keys.c.digest).where(
        api_keys.c.id == key_id, api_keys.c.account_id == account_id
    )
    digest: str | None = session.scalar(query)
    return digest


def find_key_state(session: Session, key_digest: str) -> KeyState | None:
    """Return the state of a key, None if there is no such key."""
    row = (
        session.execute(
            select(
                api_keys.c.id.label("key_id"),
                api_keys.c.expires_at,
                api_keys.c.revoked_at,
                api_keys.c.scopes,
                users.c.id.label("user_id"),
                users.c.name.label("user_name"),
                users.c.email.label("user_email"),
                workspaces.c.id.label("workspace_id"),
                accounts,
            )
            .select_from(api_keys)
            .join(accounts, api_keys.c.account_id == accounts.c.id)
            .join(users, api_keys.c.user_id == users.c.id)
            .outerjoin(workspaces, workspaces.c.account_id == accounts.c.id)
            .where(api_keys.c.digest == key_digest)
        )
        .mappings()
        .first()
    )
    return _key_state(row) if row else None


def _key_state(row: RowMapping) -> KeyState:
    # By the names of JSON, where `scopes` has another.
    return KeyState.of_row(
        row,
        account_id=row["id"],
        key_revoked=row["revoked_at"] is not None,
        key_expires_at=row["expires_at"],
        granted=decode_scopes(row["scopes"]),
        account_disabled=row["is_disabled"],
        email_verified=row["is_email_verified"],
    )


def _check_account(session: Session, account_id: str) -> None:
    if session.scalar(select(accounts.c.id).where(accounts.c.id == account_id)) is None:
        raise LookupError(f"There is no account {account_id!r}.")


def _check_person(email: str, name: str) -> None:
    if not _EMAIL.match(email):
        raise ValueError(f"email: {email!r} is not an address such as name@example.org.")
    _check_name(name)


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise ValueError(f"name: {name!r} is not 1 to 200 characters without control characters.")


def _check_terms(*, plan: str | None, max_pages: int | None, max_draft_pages: int | None) -> None:
    if plan is not None and plan not in PLANS:
        raise ValueError(f"plan: {plan!r} is not one of {', '.join(PLANS)}.")
    for name, pages in (("max_pages", max_pages), ("max_draft_pages", max_draft_pages)):
        if pages is not None and not 0 <= pages <= MAX_PAGES:
            raise ValueError(f"{name}: {pages} is not a number of pages from 0 to {MAX_PAGES}.")


def _check_renewal_day(day: int) -> None:
    if not 1 <= day <= 31:
        raise ValueError(f"renewal_day: {day} is not a day from 1 to 31.")


def _check_rate_limit(rate_limit: str | None) -> None:
    if rate_limit is None:
        return
    try:
        parse_rate(rate_limit)
    except ValueError as error:
        raise ValueError(f"rate_limit: {error}, such as 20/second.") from error
