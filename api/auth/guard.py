"""Deciding who a request is from: steps 1 and 2 of contract.md 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, cast

from flask import g
from werkzeug.datastructures import Headers

from api.auth.keys import find_api_key, has_key_shape
from api.ports import Ports
from shared.buckets.admission import Admission
from shared.buckets.key_state import KeyState
from shared.clock import now
from shared.db.accounts import find_key_state
from shared.db.people import UserRef
from shared.db.pinning import Reader
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.identifiers import digest_api_key
from shared.metering import Totals
from shared.periods import Period, find_period


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a request is from: a live key of a live account, in its current billing period.

    `used` is None where it was not read with the key, or is missing in Redis: ask `find_used`.
    """

    state: KeyState
    period: Period
    used: Totals | None

    @property
    def user(self) -> UserRef:
        """Give the user the key was made for, as records name one."""
        state = self.state
        return UserRef(state.user_id, state.user_name or state.user_email, state.user_email)

    @property
    def reader(self) -> Reader:
        """Give whose templates and slugs a reference is resolved among."""
        return Reader(self.state.account_id, self.state.workspace_id)

    def get_workspace(self) -> str:
        """Give the account's workspace.

        Raises:
            ServiceError: 409, the account has none.
        """
        if self.state.workspace_id is None:
            raise ServiceError(
                409,
                "The account has no workspace; slugs and images are not available to it.",
                code=ErrorCode.WORKSPACE_UNRESOLVED,
            )
        return self.state.workspace_id


def authenticate(headers: Headers, ports: Ports) -> Principal:
    """Say who sent these headers. A cached key costs one Redis round trip at most, and no query.

    Raises:
        ServiceError: 401 without a live key, 403 when its account may not use the service.
    """
    key = find_api_key(headers)
    if key is None:
        _refuse_key("An API key is required, as 'Authorization: Bearer <API_KEY>' or 'x-api-key'.")
    if not has_key_shape(key):
        _refuse_key("The API key is not recognised.")
    digest = digest_api_key(key)
    admission = _find_admission(digest, ports)
    if admission is None:
        _refuse_key("The API key is not recognised.")
    _check_state(admission.state)
    return Principal(admission.state, admission.period, admission.used)


def current_principal() -> Principal:
    """Give who the request at hand is from; the app authenticates before it routes."""
    return cast("Principal", g.principal)


def _find_admission(digest: str, ports: Ports) -> Admission | None:
    cached = ports.admissions.find(digest)
    if cached is not None:
        return cached
    with ports.database.snapshot() as session:
        state = find_key_state(session, digest)
    if state is None:
        return None
    ports.admissions.put(digest, state)
    # Read again, for the counters. Just after a change of the key the cache keeps nothing.
    period = find_period(now().date(), renewal_day=state.renewal_day)
    return ports.admissions.find(digest) or Admission(state, period, None)


def _check_state(state: KeyState) -> None:
    if state.key_revoked:
        _refuse_key("The API key is revoked.", ErrorCode.KEY_REVOKED)
    if state.key_expires_at is not None and state.key_expires_at <= now():
        _refuse_key("The API key has expired.", ErrorCode.KEY_EXPIRED)
    if state.account_disabled:
        _refuse_account("The account is disabled.", ErrorCode.ACCOUNT_DISABLED)
    if not state.email_verified:
        _refuse_account(
            "The email address of the account is not verified.", ErrorCode.EMAIL_NOT_VERIFIED
        )


def _refuse_key(message: str, code: ErrorCode | None = None) -> NoReturn:
    headers = {"WWW-Authenticate": "Bearer"}
    raise ServiceError(401, message, kind=ErrorKind.AUTHENTICATION, code=code, headers=headers)


def _refuse_account(message: str, code: ErrorCode) -> NoReturn:
    raise ServiceError(403, message, kind=ErrorKind.AUTHENTICATION, code=code)
