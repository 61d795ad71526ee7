"""The session cookie of the Studio, and its protection against cross-site requests (decision 0362)."""

from __future__ import annotations

import re
from typing import Final

from werkzeug.datastructures import Headers
from werkzeug.http import parse_cookie

from api.ports import Ports
from shared.errors import ErrorKind, ServiceError

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
        raise _forbidden(f"The header {STUDIO_HEADER} is missing: send it with the value 1.")
    site = headers.get("Sec-Fetch-Site")
    if site is not None:
        if site != "same-origin":
            raise _forbidden(
                "Sessions are accepted from the Studio's own pages only, not from another site."
            )
        return
    origin = headers.get("Origin")
    if origin is None and method in _SAFE_METHODS:
        return
    if origin is None or origin != f"{_scheme(headers, ports)}://{headers.get('Host', '')}":
        raise _forbidden(
            "Sessions are accepted from the Studio's own pages only: the Origin header must be the "
            "address of this service."
        )


def _is_local(headers: Headers, ports: Ports) -> bool:
    """Return whether the request is to localhost and the operator allows that without TLS.

    Not every browser accepts a `__Host-` cookie without TLS, even from localhost.
    """
    return ports.studio_local_http and _LOCAL_HOST.match(headers.get("Host", "")) is not None


def _cookie_name(headers: Headers, ports: Ports) -> str:
    return _LOCAL_COOKIE if _is_local(headers, ports) else _COOKIE


def _attributes(headers: Headers, ports: Ports) -> str:
    return _LOCAL if _is_local(headers, ports) else _SECURE


def _scheme(headers: Headers, ports: Ports) -> str:
    return "http" if _is_local(headers, ports) else "https"


def _forbidden(message: str) -> ServiceError:
    return ServiceError(403, message, kind=ErrorKind.AUTHENTICATION)
