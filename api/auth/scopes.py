"""The scope that each endpoint requires of the API key (decision 0378).

This table is the only place where scopes are checked. A path under /v2 that it lacks is refused for every
key, and a test compares it with the routes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shared.auth.key_state import KeyState
from shared.auth.scopes import Scope, list_scopes
from shared.errors import ErrorCode, ErrorKind, ServiceError

_READING: Final = frozenset(("GET", "HEAD"))


@dataclass(frozen=True, slots=True)
class Access:
    """The scopes of which one suffices for a path: for GET and HEAD, and for every other method."""

    reading: frozenset[Scope]
    other: frozenset[Scope]


def _grant(*scopes: Scope, with_reading: bool = True) -> Access:
    own = frozenset(scopes)
    return Access(own | {Scope.READ} if with_reading else own, own)


_RENDER: Final = _grant(Scope.RENDER)
_TEMPLATES: Final = _grant(Scope.TEMPLATES)
_USAGE: Final = _grant(Scope.ACCOUNT)
# The names of people, and addresses of other systems, are for those who manage them.
_ACCOUNT: Final = _grant(Scope.ACCOUNT, with_reading=False)
# Neither returns a metered PDF, and both serve those who write templates as well as those who render.
_CHECKS: Final = _grant(Scope.RENDER, Scope.TEMPLATES)
# It changes nothing and is not metered; without it a reader could not see what a template looks like.
_PREVIEW: Final = _grant(Scope.READ, Scope.RENDER, Scope.TEMPLATES)
# What concerns the key of the request itself.
_ANY_KEY: Final = _grant(*Scope)

# By path; names of path parameters are left out.
SCOPES: Final[Mapping[str, Access]] = {
    "/v2/pdf": _RENDER,
    "/v2/validate": _CHECKS,
    "/v2/preview": _PREVIEW,
    "/v2/einvoices/check": _CHECKS,
    "/v2/forms/extract": _CHECKS,
    "/v2/jobs": _RENDER,
    "/v2/jobs/{}": _RENDER,
    "/v2/jobs/{}/pdf": _RENDER,
    "/v2/batches": _RENDER,
    "/v2/batches/{}": _RENDER,
    "/v2/batches/{}/items": _RENDER,
    "/v2/batches/{}/result": _RENDER,
    "/v2/templates": _TEMPLATES,
    "/v2/templates/{}": _TEMPLATES,
    "/v2/templates/{}/dependents": _TEMPLATES,
    "/v2/templates/{}/versions": _TEMPLATES,
    "/v2/templates/{}/versions/{}": _TEMPLATES,
    "/v2/templates/{}/tags": _TEMPLATES,
    "/v2/templates/{}/tags/{}": _TEMPLATES,
    "/v2/templates/{}/tags/{}/history": _TEMPLATES,
    "/v2/slugs": _TEMPLATES,
    "/v2/slugs/{}": _TEMPLATES,
    "/v2/images": _TEMPLATES,
    "/v2/images/{}": _TEMPLATES,
    "/v2/fonts": _TEMPLATES,
    "/v2/fonts/{}": _TEMPLATES,
    "/v2/authcheck": _ANY_KEY,
    "/v2/account": _ANY_KEY,
    "/v2/session": _ANY_KEY,
    "/v2/account/usage": _USAGE,
    "/v2/account/usage/days": _USAGE,
    "/v2/account/usage/templates": _USAGE,
    "/v2/keys": _ACCOUNT,
    "/v2/keys/{}": _ACCOUNT,
    "/v2/webhooks": _ACCOUNT,
    "/v2/webhooks/{}": _ACCOUNT,
    "/v2/webhooks/{}/rotate": _ACCOUNT,
    "/v2/webhooks/{}/test": _ACCOUNT,
    "/v2/webhooks/{}/deliveries": _ACCOUNT,
}


@lru_cache(maxsize=512)
def find_scopes(method: str, path: str) -> frozenset[Scope]:
    """Return the scopes of which one suffices, none if the path is unlisted.

    `path` is of Flask's or OpenAPI's form.
    """
    access = SCOPES.get(re.sub(r"<[\w:]+>|{\w+}", "{}", path))
    if access is None:
        return frozenset()
    return access.reading if method.upper() in _READING else access.other


def check_scope(method: str, path: str, state: KeyState) -> None:
    """Check that a key has a scope that a request requires.

    Raises:
        ServiceError: 403, it has none.
    """
    accepted = find_scopes(method, path)
    if not state.scopes & accepted:
        needed = " or ".join(list_scopes(accepted))
        raise ServiceError(
            403,
            f"This request requires a key with the scope {needed}; the key has "
            f"{', '.join(list_scopes(state.scopes))}.",
            kind=ErrorKind.AUTHENTICATION,
            code=ErrorCode.KEY_SCOPE,
        )
