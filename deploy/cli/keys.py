"""`pressroom key create|revoke|list`: the secrets that open an account."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from deploy.cli.access import add_farm_option, open_farm
from deploy.cli.output import Commands, add_json_option, print_result, write_table
from shared.clock import timestamp
from shared.db import accounts
from shared.db.session import Session


def add_commands(commands: Commands) -> None:
    """Add `key create`, `key revoke` and `key list`."""
    group = commands.add_parser("key", help="make, revoke and list keys", allow_abbrev=False)
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make another key", allow_abbrev=False)
    create.add_argument("account_id", metavar="ACCOUNT_ID")
    create.add_argument(
        "--expires-at", type=_instant, metavar="TS", help="ISO 8601 with its offset, or a UTC date"
    )
    create.set_defaults(run=run_create)
    revoke = actions.add_parser("revoke", help="revoke a key for good", allow_abbrev=False)
    revoke.add_argument("key_id", metavar="KEY_ID")
    revoke.set_defaults(run=run_revoke)
    listing = actions.add_parser("list", help="list the keys of an account", allow_abbrev=False)
    listing.add_argument("account_id", metavar="ACCOUNT_ID")
    listing.set_defaults(run=run_list)
    for parser in (create, revoke, listing):
        add_farm_option(parser)
        add_json_option(parser)


def run_create(arguments: argparse.Namespace) -> int:
    """Make a key; it is shown here and never again."""
    with open_farm(arguments.data) as farm:
        made = farm.change(
            lambda session: accounts.create_key(
                session, arguments.account_id, expires_at=arguments.expires_at
            )
        )
    print_result(asdict(made), as_json=arguments.json)
    return 0


def run_revoke(arguments: argparse.Namespace) -> int:
    """Revoke a key; the next request with it is refused by every front."""
    with open_farm(arguments.data) as farm:

        def revoke(session: Session) -> tuple[str, str]:
            digest = accounts.revoke_key(session, arguments.key_id)
            state = accounts.find_key_state(session, digest)
            assert state is not None, "a key that was revoked is there"
            return state.account_id, digest

        account_id, digest = farm.change(revoke)
        farm.drop_cached(account_id, [digest])
    print_result({"key_id": arguments.key_id, "revoked": True}, as_json=arguments.json)
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """List an account's keys, oldest first; no key can be read back, only its ends."""
    with open_farm(arguments.data) as farm:
        found = farm.change(lambda session: accounts.list_keys(session, arguments.account_id))
    keys = [_shown(key) for key in found]
    if arguments.json:
        print_result({"keys": keys}, as_json=True)
        return 0
    rows = [[key["key_id"], key["key"], key["state"], key["user"]["email"]] for key in keys]
    print(write_table(["id", "key", "state", "user"], rows))
    return 0


def _shown(key: accounts.KeyInfo) -> dict[str, Any]:
    moments = {
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }
    written = {name: timestamp(at) if at else None for name, at in moments.items()}
    shown = {"key_id": key.key_id, "key": key.display, "user": asdict(key.user)}
    return shown | written | {"state": _state(key)}


def _state(key: accounts.KeyInfo) -> str:
    if key.revoked_at:
        return f"revoked {timestamp(key.revoked_at)}"
    return f"expires {timestamp(key.expires_at)}" if key.expires_at else "valid"


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 timestamp such as 2027-01-31T12:00:00Z"
        ) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
