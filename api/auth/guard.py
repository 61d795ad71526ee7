"""Authentication: by API key, or by the Studio's session cookie with its protection against cross-site requests (decision 0362)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, cast

from flask import g
from werkzeug.datastructures import Headers
from werkzeug.http import parse_cookie

from api.ports import Ports
from shared.auth import audit
from shared.auth.accounts import find_key_state
from shared.auth.key_state import Admission, KeyState
from shared.auth.scopes import Scope, list_scopes
from shared.auth.studio_sessions import StudioSession
from shared.clock import now
from shared.db.session import Session
from shared.db.user_refs import UserRef
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import digest_api_key
from shared.templates.pinning import Reader
from shared.usage.metering import Totals
from shared.usage.periods import Period, find_period

# A page of another origin cannot send it without a preflight, which is refused (`api.app`).
STUDIO_HEADER: Final = "X-Pressroom-Studio"
# RFC 6265bis, 4.1.3.2: set by this host only, over TLS only, and sent to no other host.
_COOKIE: Final = "__Host-pressroom"
_LOCAL_COOKIE: Final = "pressroom-local"
_LOCAL_HOST: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?\Z")
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_SECURE: Final = "Path=/; HttpOnly; SameSite=Strict; Secure"
_LOCAL: Final = "Path=/; HttpOnly; SameSite=Strict"


def is_from_studio(headers: Headers) -> bool:
    """Return whether a request has the header of the Studio's page."""
    return headers.get(STUDIO_HEADER) is not None


def find_session_token(headers: Headers, ports: Ports) -> str | None:
    """Return the token in the session cookie, None without one."""
    return parse_cookie(headers.get("Cookie", "")).get(_cookie_name(headers, ports))


def write_session_cookie(token: str, headers: Headers, ports: Ports) -> str:
    """Return the Set-Cookie value of a token; the cookie lasts until the browser is closed."""
    return f"{_cookie_name(headers, ports)}={token}; {_attributes(headers, ports)}"


def write_cleared_cookie(headers: Headers, ports: Ports) -> str:
    """Return the Set-Cookie value that deletes the cookie."""
    return f"{_cookie_name(headers, ports)}=; {_attributes(headers, ports)}; Max-Age=0"


def check_same_origin(headers: Headers, ports: Ports, *, method: str) -> None:
    """Check that a request with a session comes from the Studio's page, not from another site.

    Browsers set `Sec-Fetch-Site`, which pages cannot. Without it the `Origin` must be this host's; it may
    be missing for safe methods only, with which browsers do not send it.

    Raises:
        ServiceError: 403, the request comes from another site, or its origin is unknown.
    """
    if not is_from_studio(headers):
        raise ServiceError(403, f"The header {STUDIO_HEADER} is missing: send it with the value 1.")
    site = headers.get("Sec-Fetch-Site")
    if site is not None:
        if site != "same-origin":
            raise ServiceError(
                403,
                "Sessions are accepted from the Studio's own pages only, not from another site.",
            )
        return
    origin = headers.get("Origin")
    if origin is None and method in _SAFE_METHODS:
        return
    if origin is None or origin != f"{_scheme(headers, ports)}://{headers.get('Host', '')}":
        raise ServiceError(
            403,
            "Sessions are accepted from the Studio's own pages only: the Origin header must be the "
            "address of this service.",
        )


def _is_local(headers: Headers, ports: Ports) -> bool:
    """Return whether the request is to localhost and the operator allows that without TLS.

    Not every browser accepts a `__Host-` cookie without TLS, even from localhost.
    """
    return (
        ports.settings.studio_local_http and _LOCAL_HOST.match(headers.get("Host", "")) is not None
    )


def _cookie_name(headers: Headers, ports: Ports) -> str:
    return _LOCAL_COOKIE if _is_local(headers, ports) else _COOKIE


def _attributes(headers: Headers, ports: Ports) -> str:
    return _LOCAL if _is_local(headers, ports) else _SECURE


def _scheme(headers: Headers, ports: Ports) -> str:
    return "http" if _is_local(headers, ports) else "https"


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated key and account of a request, with the current billing period.

    `used` is the account's usage, None if it was not read with the key or is missing in Redis; then
    call `find_used`. `session` is None if the request has the key itself.
    """

    key_digest: str
    state: KeyState
    period: Period
    used: Totals | None
    session: StudioSession | None = None

    @property
    def user(self) -> UserRef:
        """The user of the key."""
        state = self.state
        return UserRef(state.user_id, state.user_name or state.user_email, state.user_email)

    @property
    def reader(self) -> Reader:
        """The account and workspace in which template references are resolved."""
        return Reader(self.state.account_id, self.state.workspace_id)

    def get_workspace(self) -> str:
        """Return the account's workspace.

        Raises:
            ServiceError: 409, the account has none.
        """
        if self.state.workspace_id is None:
            raise ServiceError(
                409,
                "The account has no workspace, so slugs, images and fonts are not available.",
                code=ErrorCode.WORKSPACE_UNRESOLVED,
            )
        return self.state.workspace_id


def record_change(
    session: Session,
    principal: Principal,
    action: str,
    subject: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Append what the key of a request does to the audit log of its account."""
    state = principal.state
    audit.record(session, state.account_id, state.key_id, action, subject, details)


def authenticate(headers: Headers, ports: Ports, *, method: str) -> Principal:
    """Authenticate a request by its headers.

    A cached key costs at most one Redis round trip and no query; a session costs one more. A key takes
    precedence over a session. A session cookie is ignored without the Studio's header, since browsers
    send cookies on their own.

    Raises:
        ServiceError: 401 without a valid key or session; 400 for two different keys; 403 if the account
            may not use the service, or if another site uses the session.
    """
    key = find_api_key(headers)
    if key is None and is_from_studio(headers):
        return _authenticate_session(headers, ports, method)
    return authenticate_digest(_digest_key(key), ports)


def authenticate_digest(digest: str, ports: Ports) -> Principal:
    """Authenticate a key by its digest.

    Raises:
        ServiceError: as `authenticate`.
    """
    admission = _find_admission(digest, ports)
    if admission is None:
        _raise_unauthorized("The API key is not recognised.")
    _check_state(admission.state)
    return Principal(digest, admission.state, admission.period, admission.used)


def check_scope(accepted: AbstractSet[Scope], state: KeyState) -> None:
    """Check that a key has one of the scopes of an operation.

    Raises:
        ServiceError: 403, it has none.
    """
    if not state.scopes & accepted:
        needed = " or ".join(list_scopes(accepted))
        raise ServiceError(
            403,
            f"This request requires a key with the scope {needed}; the key has "
            f"{', '.join(list_scopes(state.scopes))}.",
            code=ErrorCode.KEY_SCOPE,
        )


def current_principal() -> Principal:
    """Return the principal of the current request; the app authenticates before it routes."""
    return cast("Principal", g.principal)


def _authenticate_session(headers: Headers, ports: Ports, method: str) -> Principal:
    check_same_origin(headers, ports, method=method)
    token = find_session_token(headers, ports)
    if token is None:
        _raise_unauthorized("You are not signed in; sign in with an API key.")
    session = ports.sessions.find(token)
    if session is None:
        _raise_unauthorized(
            "The session has ended; sign in again.", cookie=write_cleared_cookie(headers, ports)
        )
    return replace(authenticate_digest(session.key_digest, ports), session=session)


def _digest_key(key: str | None) -> str:
    if key is None:
        _raise_unauthorized(
            "An API key is required, as 'Authorization: Bearer <API_KEY>' or 'x-api-key'."
        )
    if not is_well_formed_key(key):
        _raise_unauthorized("The API key is not recognised.")
    return digest_api_key(key)


def _find_admission(digest: str, ports: Ports) -> Admission | None:
    cached = ports.admissions.find(digest)
    if cached is not None:
        return cached
    with ports.database.snapshot() as session:
        state = find_key_state(session, digest)
    if state is None:
        return None
    ports.admissions.put(digest, state)
    # Read again for the usage counters. Just after a change of the key the cache stores nothing.
    period = find_period(now().date(), renewal_day=state.renewal_day)
    return ports.admissions.find(digest) or Admission(state, period, None)


def _check_state(state: KeyState) -> None:
    if state.key_revoked:
        _raise_unauthorized("The API key is revoked.", ErrorCode.KEY_REVOKED)
    if state.key_expires_at is not None and state.key_expires_at <= now():
        _raise_unauthorized("The API key has expired.", ErrorCode.KEY_EXPIRED)
    if state.account_disabled:
        raise ServiceError(403, "The account is disabled.", code=ErrorCode.ACCOUNT_DISABLED)
    if not state.email_verified:
        message = "The email address of the account is not verified."
        raise ServiceError(403, message, code=ErrorCode.EMAIL_NOT_VERIFIED)


def _raise_unauthorized(
    message: str, code: ErrorCode | None = None, *, cookie: str | None = None
) -> NoReturn:
    headers = {"WWW-Authenticate": "Bearer"} | ({} if cookie is None else {"Set-Cookie": cookie})
    raise ServiceError(401, message, code=code, headers=headers)


# Every key has this form (shared.identifiers); anything else is rejected without a lookup.
_KEY_PATTERN: Final = re.compile(r"pr_[0-9A-Za-z]{40}\Z")
_BEARER: Final = re.compile(r"bearer[ \t]+", re.IGNORECASE)


def find_api_key(headers: Headers) -> str | None:
    """Return the API key of a request, None without one.

    Raises:
        ServiceError: 400, the headers `Authorization` and `x-api-key` have different keys.
    """
    keys = {headers.get("x-api-key", "").strip()}
    authorization = headers.get("Authorization", "")
    if bearer := _BEARER.match(authorization):
        keys.add(authorization[bearer.end() :].strip())
    keys.discard("")
    if len(keys) > 1:
        raise ServiceError(
            400,
            "The keys in Authorization and x-api-key differ: send one of them, or the same twice.",
        )
    return keys.pop() if keys else None


def is_well_formed_key(text: str) -> bool:
    """Return whether a text has the form of an API key."""
    return _KEY_PATTERN.match(text) is not None
