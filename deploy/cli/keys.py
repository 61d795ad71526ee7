"""`pressroom key create|revoke|restore|list`: the API keys of an account."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from deploy.cli.farm import open_farm
from deploy.cli.output import Result, print_list
from shared.auth import accounts, audit
from shared.auth.scopes import list_scopes
from shared.auth.sign_in_keys import restore_sign_in
from shared.clock import timestamp
from shared.db.session import Session


def run_create(arguments: argparse.Namespace) -> Result:
    """Create a key; only this output contains it."""
    account_id = arguments.account_id

    def create(session: Session) -> accounts.CreatedKey:
        key = accounts.create_key(
            session, account_id, expires_at=arguments.expires_at, scopes=arguments.scopes
        )
        details = {"scopes": list_scopes(arguments.scopes)}
        audit.record(session, account_id, audit.OPERATOR, "key.created", key.key_id, details)
        return key

    with open_farm(arguments.data) as farm:
        made = farm.change(create)
    shown: Result = msgspec.to_builtins(made)
    return shown


def run_revoke(arguments: argparse.Namespace) -> Result:
    """Revoke a key; every front rejects the next request with it."""
    with open_farm(arguments.data) as farm:

        def revoke(session: Session) -> tuple[str, str]:
            digest = accounts.revoke_key(session, arguments.key_id)
            state = accounts.find_key_state(session, digest)
            assert state is not None, "a revoked key exists"
            audit.record(session, state.account_id, audit.OPERATOR, "key.revoked", arguments.key_id)
            return state.account_id, digest

        account_id, digest = farm.change(revoke)
        farm.invalidate_keys(account_id, [digest])
    return {"key_id": arguments.key_id, "revoked": True}


def run_restore(arguments: argparse.Namespace) -> Result:
    """Restore a key, so that its person can sign in again; the sessions that the revocation ended stay ended."""
    with open_farm(arguments.data) as farm:
        farm.end_sessions(arguments.key_id)

        def restore(session: Session) -> tuple[str, str]:
            account_id, digest = restore_sign_in(session, arguments.key_id)
            audit.record(session, account_id, audit.OPERATOR, "key.restored", arguments.key_id)
            return account_id, digest

        account_id, digest = farm.change(restore)
        farm.invalidate_keys(account_id, [digest])
    return {"key_id": arguments.key_id, "restored": True}


def run_list(arguments: argparse.Namespace) -> Result | None:
    """List an account's keys, oldest first, without their secrets."""
    with open_farm(arguments.data) as farm:
        found = farm.change(lambda session: accounts.list_keys(session, arguments.account_id))
    keys = [_write_key(key) for key in found]
    columns = ("key_id", "key", "name", "scopes", "state")
    return print_list("keys", keys, columns, as_json=arguments.json)


def _write_key(key: accounts.Key) -> dict[str, Any]:
    moments = {
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }
    written = {name: timestamp(at) if at else None for name, at in moments.items()}
    shown = {
        "key_id": key.key_id,
        "key": key.display,
        "name": key.name,
        "scopes": list_scopes(key.scopes),
        "user": key.user.show(),
    }
    return shown | written | {"state": _state(key)}


def _state(key: accounts.Key) -> str:
    if key.revoked_at:
        return f"revoked {timestamp(key.revoked_at)}"
    return f"expires {timestamp(key.expires_at)}" if key.expires_at else "valid"
