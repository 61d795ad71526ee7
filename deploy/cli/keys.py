"""`pressroom key create|revoke|restore|list`: the API keys of an account."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from deploy.cli.farm import add_farm_option, open_farm
from deploy.cli.output import Commands, add_json_option, print_result, write_table
from shared.auth import accounts
from shared.auth.scopes import ALL_SCOPES, Scope, list_scopes, parse_scopes
from shared.auth.sign_in_keys import restore_sign_in
from shared.clock import timestamp
from shared.db.session import Session


def add_commands(commands: Commands) -> None:
    """Add `key create`, `key revoke`, `key restore` and `key list`."""
    group = commands.add_parser("key", help="create, revoke and list API keys", allow_abbrev=False)
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="create a key", allow_abbrev=False)
    create.add_argument("account_id", metavar="ACCOUNT_ID")
    create.add_argument(
        "--expires-at",
        type=_parse_timestamp,
        metavar="TS",
        help="ISO 8601 timestamp with offset, or a UTC date",
    )
    create.add_argument(
        "--scopes",
        type=_parse_scopes,
        default=ALL_SCOPES,
        metavar="LIST",
        help=f"scopes of the key, of {','.join(Scope)}; default is all",
    )
    create.set_defaults(run=run_create)
    revoke = actions.add_parser("revoke", help="revoke a key permanently", allow_abbrev=False)
    revoke.add_argument("key_id", metavar="KEY_ID")
    revoke.set_defaults(run=run_revoke)
    restore = actions.add_parser(
        "restore",
        help="let a person sign in again whose key of single sign-on is revoked",
        allow_abbrev=False,
    )
    restore.add_argument("key_id", metavar="KEY_ID")
    restore.set_defaults(run=run_restore)
    listing = actions.add_parser("list", help="list the keys of an account", allow_abbrev=False)
    listing.add_argument("account_id", metavar="ACCOUNT_ID")
    listing.set_defaults(run=run_list)
    for parser in (create, revoke, restore, listing):
        add_farm_option(parser)
        add_json_option(parser)


def run_create(arguments: argparse.Namespace) -> int:
    """Create a key; only this output contains it."""
    with open_farm(arguments.data) as farm:
        made = farm.change(
            lambda session: accounts.create_key(
                session,
                arguments.account_id,
                expires_at=arguments.expires_at,
                scopes=arguments.scopes,
            )
        )
    print_result(asdict(made), as_json=arguments.json)
    return 0


def run_revoke(arguments: argparse.Namespace) -> int:
    """Revoke a key; every front rejects the next request with it."""
    with open_farm(arguments.data) as farm:

        def revoke(session: Session) -> tuple[str, str]:
            digest = accounts.revoke_key(session, arguments.key_id)
            state = accounts.find_key_state(session, digest)
            assert state is not None, "a revoked key exists"
            return state.account_id, digest

        account_id, digest = farm.change(revoke)
        farm.invalidate_keys(account_id, [digest])
    print_result({"key_id": arguments.key_id, "revoked": True}, as_json=arguments.json)
    return 0


def run_restore(arguments: argparse.Namespace) -> int:
    """Restore a key, so that its person can sign in again; the sessions that the revocation ended stay ended."""
    with open_farm(arguments.data) as farm:
        farm.end_sessions(arguments.key_id)
        account_id, digest = farm.change(lambda session: restore_sign_in(session, arguments.key_id))
        farm.invalidate_keys(account_id, [digest])
    print_result({"key_id": arguments.key_id, "restored": True}, as_json=arguments.json)
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """List an account's keys, oldest first, without their secrets."""
    with open_farm(arguments.data) as farm:
        found = farm.change(lambda session: accounts.list_keys(session, arguments.account_id))
    keys = [_write_key(key) for key in found]
    if arguments.json:
        print_result({"keys": keys}, as_json=True)
        return 0
    rows = [
        [
            key["key_id"],
            key["key"],
            ",".join(key["scopes"]),
            key["state"],
            key["user"]["email"],
        ]
        for key in keys
    ]
    print(write_table(["id", "key", "scopes", "state", "user"], rows))
    return 0


def _write_key(key: accounts.KeyInfo) -> dict[str, Any]:
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
        "user": asdict(key.user),
    }
    return shown | written | {"state": _state(key)}


def _state(key: accounts.KeyInfo) -> str:
    if key.revoked_at:
        return f"revoked {timestamp(key.revoked_at)}"
    return f"expires {timestamp(key.expires_at)}" if key.expires_at else "valid"


def _parse_scopes(text: str) -> frozenset[Scope]:
    try:
        return parse_scopes(text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parse_timestamp(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 timestamp such as 2027-01-31T12:00:00Z"
        ) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
