"""The check of the scope that an operation requires of the API key (decision 0378)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from shared.auth.key_state import KeyState
from shared.auth.scopes import Scope, list_scopes
from shared.errors import ErrorCode, ErrorKind, ServiceError


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
            kind=ErrorKind.AUTHENTICATION,
            code=ErrorCode.KEY_SCOPE,
        )
