"""The scope that each endpoint requires of the API key (decision 0363).

This table is the only place where scopes are checked. A path under /v2 that it lacks is refused for every
key, and a test compares it with the routes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.redis_state.key_state import KeyState
from shared.scopes import Scope, list_scopes

_RENDER: Final = frozenset({Scope.RENDER})
_TEMPLATES: Final = frozenset({Scope.TEMPLATES})
_ACCOUNT: Final = frozenset({Scope.ACCOUNT})
# Neither returns a metered PDF, and both serve those who write templates as well as those who render.
_CHECKS: Final = _RENDER | _TEMPLATES
# What concerns the key of the request itself.
_ANY_KEY: Final = frozenset(Scope)

# The scopes of which one suffices, by path; names of path parameters are left out.
SCOPES: Final[Mapping[str, frozenset[Scope]]] = {
    "/v2/pdf": _RENDER,
    "/v2/validate": _CHECKS,
    "/v2/preview": _CHECKS,
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
    "/v2/account/usage": _ACCOUNT,
    "/v2/account/usage/days": _ACCOUNT,
    "/v2/account/usage/templates": _ACCOUNT,
    "/v2/keys": _ACCOUNT,
    "/v2/keys/{}": _ACCOUNT,
    "/v2/webhooks": _ACCOUNT,
    "/v2/webhooks/{}": _ACCOUNT,
    "/v2/webhooks/{}/rotate": _ACCOUNT,
    "/v2/webhooks/{}/test": _ACCOUNT,
    "/v2/webhooks/{}/deliveries": _ACCOUNT,
}


@lru_cache(maxsize=512)
def find_scopes(path: str) -> frozenset[Scope]:
    """Return the scopes of which one suffices for a path of Flask's or OpenAPI's form, none if unlisted."""
    return SCOPES.get(re.sub(r"<[\w:]+>|{\w+}", "{}", path), frozenset())


def check_scope(path: str, state: KeyState) -> None:
    """Check that a key has a scope that a path requires.

    Raises:
        ServiceError: 403, it has none.
    """
    accepted = find_scopes(path)
    if not state.scopes & accepted:
        needed = " or ".join(list_scopes(accepted))
        raise ServiceError(
            403,
            f"This request requires a key with the scope {needed}; the key has "
            f"{', '.join(list_scopes(state.scopes))}.",
            kind=ErrorKind.AUTHENTICATION,
            code=ErrorCode.KEY_SCOPE,
        )
