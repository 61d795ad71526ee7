"""The routes under /v2/keys: the API keys of the account."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypedDict

from flask import Response, request

from api.admission.body import receive_record
from api.auth.guard import current_principal
from api.http import parse_timestamp, write_json
from api.operations.model import RequestBody, Routes, delete, get, json_content, json_response, post
from api.operations.parameters import NO_CONTENT
from shared.auth import accounts, audit
from shared.auth.scopes import Scope, list_scopes, parse_scopes
from shared.clock import now, timestamp
from shared.db.queries import lock_account
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError
from shared.telemetry import log

MAX_LIVE_KEYS: Final = 100
_KEY_ID: Final = re.compile(r"key_[a-z2-7]{24}\Z")
_log: Final = log.get_logger(__name__)


class KeyRoutes(Routes):
    """The views."""

    tag = "Account"
    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False  # they have names of people

    @get("/v2/keys", {200: json_response("The keys.", "KeyList")})
    def list_keys(self) -> Response:
        """List keys.

        Oldest first, including revoked and expired keys.
        """
        principal = current_principal()
        with self._ports.database.snapshot() as session:
            state = principal.state
            found = accounts.list_keys(session, state.account_id, own_key_id=state.key_id)
        return write_json({"keys": [key.show() for key in found]})

    @post(
        "/v2/keys",
        {
            201: json_response(
                "The key with its secret, which is returned only here.", "KeyWithSecret"
            )
        },
        body=RequestBody(
            json_content("KeyRequest"), "Optional name and expiry.", is_required=False
        ),
        errors={409: ()},
    )
    def create_key(self) -> Response:
        """Create a key.

        The key belongs to the account's user. Its scopes are at most those of the request's key, and it ends no later
        than that key (by default with it), else 403; a key of a person who signed in does not bound the end.
        An account has at most 100 keys that are neither revoked nor expired; more are 409.
        """
        state = current_principal().state
        at = now()
        wanted = receive_key_request(own=state.scopes, at=at)
        # Without a lock first: under many calls at once those beyond the limit would wait for it in vain.
        with self._ports.database.snapshot() as session:
            _check_limit(session, state.account_id, at=at)
            latest = accounts.find_latest_end(session, state.key_id)
        wanted["expires_at"] = _bound_end(wanted["expires_at"], latest)
        with self._ports.database.session() as session:
            lock_account(session, state.account_id)
            _check_limit(session, state.account_id, at=at)
            shown = create_key(session, state.account_id, wanted, actor=state.key_id)
        _log.info("key created", account=state.account_id, by_key=state.key_id, key=shown["id"])
        return write_json(shown, 201, headers={"Location": f"/v2/keys/{shown['id']}"})

    @delete("/v2/keys/{key_id}", {204: NO_CONTENT}, errors={404: ()})
    def revoke_key(self, key_id: str) -> Response:
        """Revoke a key.

        Permanent; takes effect within a second, and ends the sessions of the key. The key of the request
        can be revoked, too.
        """
        state = current_principal().state
        with self._ports.database.session() as session:
            found = revoke_key(session, state.account_id, key_id, actor=state.key_id)
        self._ports.admissions.drop(state.account_id, [found])
        _log.info("key revoked", account=state.account_id, by_key=state.key_id, key=key_id)
        return Response(status=204)


class KeyTerms(TypedDict):
    """What a new key shall be."""

    name: str | None
    expires_at: datetime | None
    scopes: frozenset[Scope]


def receive_key_request(*, own: frozenset[Scope], at: datetime) -> KeyTerms:
    """Receive the terms of a new key; its scopes are at most `own`.

    Raises:
        ServiceError: 400, 403.
    """
    asked = receive_record(request, accounts.KeyRequest)
    return {
        "name": asked.name or None,
        "expires_at": _read_expiry(asked.expires_at, at=at) if asked.expires_at else None,
        "scopes": _read_scopes(asked.scopes, own=own) if asked.scopes else own,
    }


def create_key(
    session: Session, account_id: str, wanted: KeyTerms, *, actor: str
) -> dict[str, Any]:
    """Create a key, and return it with its secret as JSON."""
    created = accounts.create_key(session, account_id, **wanted)
    keys = accounts.list_keys(session, account_id)
    record = next(key for key in keys if key.key_id == created.key_id)
    details = {"scopes": list_scopes(wanted["scopes"])}
    audit.record(session, account_id, actor, "key.created", created.key_id, details)
    return {**record.show(), "key": created.api_key}


def revoke_key(session: Session, account_id: str, key_id: str, *, actor: str) -> str:
    """Revoke a key of an account, and return its digest.

    Raises:
        ServiceError: 404, the account has no such key.
    """
    found = _KEY_ID.match(key_id) and accounts.find_key_digest(session, account_id, key_id)
    if not found:
        message = f"The account has no key {key_id[:100]!r}."
        raise ServiceError(404, message)
    accounts.revoke_key(session, key_id)
    audit.record(session, account_id, actor, "key.revoked", key_id)
    return found


def _check_limit(session: Session, account_id: str, *, at: datetime) -> None:
    """Check that an account may have one more key.

    Raises:
        ServiceError: 409, it has the maximum.
    """
    if accounts.count_live_keys(session, account_id, at=at) >= MAX_LIVE_KEYS:
        raise ServiceError(
            409,
            f"The account has the maximum of {MAX_LIVE_KEYS} keys that are neither revoked nor expired; "
            "revoke one first.",
        )


def _read_expiry(text: str, *, at: datetime) -> datetime:
    instant = parse_timestamp(text)
    if instant is None or instant <= at:
        raise ServiceError(
            400,
            f"Invalid field expires_at {text[:60]!r}: accepted is an ISO 8601 timestamp in the "
            "future, such as 2031-01-31T12:00:00Z.",
        )
    return instant


def _bound_end(given: datetime | None, latest: datetime | None) -> datetime | None:
    """Return the end of a new key: by default that of the key of the request, and never later.

    Raises:
        ServiceError: 403, the given one is later.
    """
    if given and latest and given > latest:
        message = (
            f"A key can end no later than the request's key, which ends at {timestamp(latest)}."
        )
        raise ServiceError(403, message)
    return given or latest


def _read_scopes(names: Sequence[str], *, own: frozenset[Scope]) -> frozenset[Scope]:
    """Return the scopes of a new key, which are never more than those of the key of the request.

    Raises:
        ServiceError: 400, the field is invalid; 403, the key of the request lacks one of them.
    """
    try:
        scopes = parse_scopes(names)
    except ValueError as error:
        raise ServiceError(400, f"Invalid field scopes: {error}.") from error
    if missing := list_scopes(scopes - own):
        raise ServiceError(
            403,
            f"A key can be created with the scopes of the request's key only; it lacks {', '.join(missing)}.",
            code=ErrorCode.KEY_SCOPE,
        )
    return scopes
