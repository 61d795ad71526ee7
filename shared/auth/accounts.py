"""Accounts, users and API keys.

After a change of an account or a key is committed, the caller invalidates the cached states of its keys
(`key_digests_of`, `AdmissionCache.drop`); until then the change has no effect.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, UnsetType, field
from sqlalchemy import RowMapping, Table, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from shared.auth.key_state import KeyState, Rate, parse_rate
from shared.auth.scopes import ALL_SCOPES, Scope, decode_scopes, encode_scopes, list_scopes
from shared.clock import now
from shared.db.session import Session
from shared.db.tables import accounts, api_keys, users, workspaces
from shared.db.user_refs import UserRef
from shared.errors import ServiceError
from shared.identifiers import ID_LENGTH, digest_api_key, display_api_key, new_api_key, new_id
from shared.records import TIMESTAMP_PATTERN, Name, Record, ShownRecord, Timestamp, doc
from shared.settings import get_limits

PLANS: Final = ("free", "paid")
# Of the keys that represent people (`sign_in_keys`), in place of the ends of a secret.
SIGN_IN_DISPLAY: Final = "sign-in"
_MAX_CPU_SECONDS: Final = 10**9
MAX_PAGES: Final = 2**53 - 1  # the largest integer that every JSON parser represents exactly

_EMAIL: Final = re.compile(r"[^\s@\x00-\x1f\x7f]{1,64}@[^\s@\x00-\x1f\x7f]{1,189}\Z")
_TERMS: Final = (
    "plan",
    "max_pages",
    "max_draft_pages",
    "max_cpu_seconds",
    "renewal_day",
    "rate_limit",
)
_LEAST_KEPT: Final = {"result_hours": 0, "record_days": 1}
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


class NewAccount(ShownRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The terms of a new account, whose name is the email address by default.

    With a reference, such as the number of a customer, it is created once however often it is asked for.
    """

    email: Annotated[str, doc("Address of the account's user.")]
    name: Annotated[str | None, doc("Name of the user; the email address.")] = None
    reference: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None,
        doc("The caller's own name of the account: the same never makes a second one."),
    ] = None
    plan: Annotated[str, doc("The plan.")] = "free"
    max_pages: Annotated[int, doc("Pages per billing period.")] = 1000
    max_draft_pages: Annotated[int | None, doc("Draft pages per period; no limit.")] = None
    max_cpu_seconds: Annotated[int | None, doc("Seconds of processor time; no limit.")] = None
    renewal_day: Annotated[int, doc("Day of the month on which periods begin.")] = 1
    rate_limit: Annotated[str | None, doc("Such as 20/second; that of the plan.")] = None
    with_workspace: Annotated[bool, doc("Whether it has slugs, images and fonts.")] = True
    verified: Annotated[bool, doc("Whether the email address is verified.")] = True


class AccountChanges(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of an account; one that is unset stays as it is."""

    plan: Annotated[str | UnsetType, doc("The plan.")] = UNSET
    max_pages: Annotated[int | UnsetType, doc("Pages per billing period.")] = UNSET
    max_draft_pages: Annotated[int | UnsetType, doc("Draft pages per period.")] = UNSET
    max_cpu_seconds: Annotated[
        int | UnsetType | None,
        doc("Seconds of processor time per period, of any plan; null: no limit.", minimum=0),
    ] = UNSET
    rate_limit: Annotated[str | UnsetType, doc("Such as 20/second.")] = UNSET
    result_hours: Annotated[
        int | UnsetType,
        doc(
            "Hours that results are kept, at most those of the service; 0: a job's PDF is deleted once it is fetched, "
            "what is not fetched after an hour.",
            minimum=0,
        ),
    ] = UNSET
    record_days: Annotated[
        int | UnsetType, doc("Days that records are kept, at most those of the service.", minimum=1)
    ] = UNSET
    disabled: Annotated[bool | UnsetType, doc("Whether its keys are refused.")] = UNSET
    held: Annotated[
        bool | UnsetType,
        doc(
            "Legal hold: whether results and records are kept whatever their times, and nothing on record is deleted."
        ),
    ] = UNSET
    verified: Annotated[bool | UnsetType, doc("Whether the email address is verified.")] = UNSET

    @property
    def given(self) -> dict[str, Any]:
        """The terms that change, by name."""
        return dict(self.to_builtins())


class AccountInfo(ShownRecord, frozen=True):
    """An account with its terms and its state."""

    account_id: Annotated[str, doc("Id of the account.")] = field(name="id")
    name: Annotated[str, doc("Name of the account's user.")]
    plan: Annotated[str, doc("The plan.")]
    max_pages: Annotated[int, doc("Pages per billing period.")]
    max_draft_pages: Annotated[int | None, doc("Draft pages per period, null without a limit.")]
    max_cpu_seconds: Annotated[int | None, doc("Seconds of processor time, null: no limit.")]
    renewal_day: Annotated[int, doc("Day of the month on which periods begin.")]
    rate_limit: Annotated[str | None, doc("Its own rate limit, null for that of the plan.")]
    result_hours: Annotated[int | None, doc("Its own hours of results, null for the service's.")]
    record_days: Annotated[int | None, doc("Its own days of records, null for the service's.")]
    is_disabled: Annotated[bool, doc("Whether its keys are refused.")]
    is_held: Annotated[bool, doc("Whether it has a legal hold.")]
    is_email_verified: Annotated[bool, doc("Whether the email address is verified.")]
    created_at: Annotated[Timestamp, doc("When it was created.")]


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
    max_cpu_seconds: Annotated[
        int | None, doc("Limit of seconds of processor time per period.", minimum=0)
    ] = None


class KeyRequest(Record, frozen=True, forbid_unknown_fields=True):
    """What is asked for of a new key; all of it may be missing."""

    name: Annotated[Name, doc("Name of the key.")] = ""
    expires_at: Annotated[
        Annotated[str, msgspec.Meta(min_length=1)],
        doc(
            "When the key expires, a date or ISO 8601 timestamp in the future; without an offset in UTC.",
            pattern=TIMESTAMP_PATTERN,
            examples=["2031-01-31T12:00:00Z"],
        ),
    ] = ""
    scopes: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ()


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


def create_account(session: Session, **terms: Any) -> CreatedAccount:
    """Create an account with one user and one key; the terms are those of `NewAccount`.

    Raises:
        ValueError: a value is out of range; the message names it and what is accepted.
    """
    (created,) = create_accounts(session, [NewAccount(**terms)]).values()
    assert created is not None, "an account without a reference is new"
    return created


def create_accounts(
    session: Session, given: Sequence[NewAccount]
) -> dict[str, CreatedAccount | None]:
    """Create accounts, each with one user and one key; None for one that exists by its reference.

    Raises:
        ValueError: a value is out of range; the message names it and what is accepted.
        ServiceError: 409, another transaction has created one of them meanwhile.
    """
    ids = [_find_id(each) for each in given]
    if len(set(ids)) < len(ids):
        raise ValueError("reference: two of the accounts have the same.")
    existing = set(session.scalars(select(accounts.c.id).where(accounts.c.id.in_(ids))))
    made: dict[str, CreatedAccount | None] = {}
    rows: dict[Table, list[dict[str, Any]]] = {
        accounts: [],
        users: [],
        workspaces: [],
        api_keys: [],
    }
    at = now()
    for account_id, account in zip(ids, given, strict=True):
        _check_new(account)
        if account_id in existing:
            made[account_id] = None
            continue
        user = UserRef(new_id("usr"), account.name or account.email, account.email)
        workspace_id = new_id("wsp") if account.with_workspace else None
        key, row = _make_key(account_id, user.id, at=at)
        made[account_id] = CreatedAccount(account_id, workspace_id, user, key.key_id, key.api_key)
        terms = {name: getattr(account, name) for name in _TERMS}
        rows[accounts].append(
            {"id": account_id, "name": user.name, "is_disabled": False, "created_at": at}
            | {"is_email_verified": account.verified}
            | terms
        )
        rows[users].append(
            {"id": user.id, "account_id": account_id, "name": user.name, "email": user.email}
        )
        if workspace_id is not None:
            rows[workspaces].append(
                {"id": workspace_id, "account_id": account_id, "created_at": at}
            )
        rows[api_keys].append(row)
    try:
        for table, values in rows.items():
            if values:
                session.execute(insert(table), values)
    except IntegrityError as error:
        raise ServiceError(
            409, "Another call creates the same accounts; repeat the request."
        ) from error
    return made


def _find_id(account: NewAccount) -> str:
    """Return the id of a new account: that of its reference, by which a repeated call finds it."""
    if account.reference is None:
        return new_id("acc")
    digest = b32encode(sha256(account.reference.encode()).digest()).decode().lower()
    return f"acc_{digest[:ID_LENGTH]}"


def _make_key(
    account_id: str,
    user_id: str,
    *,
    at: datetime,
    scopes: frozenset[Scope] = ALL_SCOPES,
    name: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[CreatedKey, dict[str, Any]]:
    """Return a new key and its row."""
    key_id, api_key = new_id("key"), new_api_key()
    row = {
        "id": key_id,
        "account_id": account_id,
        "user_id": user_id,
        "digest": digest_api_key(api_key),
        "display": display_api_key(api_key),
        "name": name,
        "scopes": encode_scopes(scopes),
        "created_at": at,
        "expires_at": expires_at,
    }
    return CreatedKey(key_id, api_key), row


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
    key, row = _make_key(
        account_id, user_id, at=now(), scopes=scopes, name=name, expires_at=expires_at
    )
    session.execute(insert(api_keys), row)
    return key


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


def find_latest_end(session: Session, key_id: str) -> datetime | None:
    """Return when the keys that a key makes end at the latest, None for no end.

    That of a person is none: each sign-in moves it, and the keys are meant to stay.
    """
    query = select(api_keys.c.expires_at).where(
        api_keys.c.id == key_id, api_keys.c.display != SIGN_IN_DISPLAY
    )
    return session.scalar(query)


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


def set_account(session: Session, account_id: str, **terms: Any) -> None:
    """Change the given terms of an account, those of `AccountChanges`.

    Raises:
        LookupError: there is no such account.
        ValueError: a value is out of range; the message names it and what is accepted.
    """
    changes = AccountChanges(**terms)
    _check_account(session, account_id)
    _check_terms(changes.given)
    columns = {"disabled": "is_disabled", "held": "is_held", "verified": "is_email_verified"}
    values = {columns.get(name, name): value for name, value in changes.given.items()}
    if values:
        session.execute(update(accounts).where(accounts.c.id == account_id).values(**values))


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
        keeps_nothing=row["result_hours"] == 0,
    )


def _check_account(session: Session, account_id: str) -> None:
    if session.scalar(select(accounts.c.id).where(accounts.c.id == account_id)) is None:
        raise LookupError(f"There is no account {account_id!r}.")


def _check_new(account: NewAccount) -> None:
    if not _EMAIL.match(account.email):
        raise ValueError(f"email: {account.email!r} is not an address such as name@example.org.")
    _check_name(account.email if account.name is None else account.name)
    _check_terms(account.to_builtins())
    _check_renewal_day(account.renewal_day)


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise ValueError(f"name: {name!r} is not 1 to 200 characters without control characters.")


def _check_terms(terms: Mapping[str, Any]) -> None:
    given = {name: value for name, value in terms.items() if value is not None}
    if "plan" in given and given["plan"] not in PLANS:
        raise ValueError(f"plan: {given['plan']!r} is not one of {', '.join(PLANS)}.")
    for name in given.keys() & {"max_pages", "max_draft_pages"}:
        if not 0 <= given[name] <= MAX_PAGES:
            raise ValueError(
                f"{name}: {given[name]} is not a number of pages from 0 to {MAX_PAGES}."
            )
    if not 0 <= given.get("max_cpu_seconds", 0) <= _MAX_CPU_SECONDS:
        raise ValueError(
            f"max_cpu_seconds: {given['max_cpu_seconds']} is not a number from 0 to {_MAX_CPU_SECONDS}."
        )
    for name in given.keys() & _LEAST_KEPT.keys():
        least, most = _LEAST_KEPT[name], getattr(get_limits(), name)
        if not least <= given[name] <= most:
            raise ValueError(
                f"{name}: {given[name]} is not a number from {least} to {most}, the service's."
            )
    if "rate_limit" in given:
        try:
            parse_rate(given["rate_limit"])
        except ValueError as error:
            raise ValueError(f"rate_limit: {error}, such as 20/second.") from error


def _check_renewal_day(day: int) -> None:
    if not 1 <= day <= 31:
        raise ValueError(f"renewal_day: {day} is not a day from 1 to 31.")
