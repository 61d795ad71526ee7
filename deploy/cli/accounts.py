"""`pressroom account create|set`: who may use the farm, and how much."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from deploy.cli.access import add_farm_option, open_farm
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared.db import accounts
from shared.db.session import Session


def add_commands(commands: Commands) -> None:
    """Add `account create` and `account set`."""
    group = commands.add_parser("account", help="make and change accounts", allow_abbrev=False)
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_create(actions)
    _add_set(actions)


def run_create(arguments: argparse.Namespace) -> int:
    """Make an account with one user and one key; the key is shown here and never again."""
    with open_farm(arguments.data) as farm:
        made = farm.change(
            lambda session: accounts.create_account(
                session,
                email=arguments.email,
                name=arguments.name,
                plan=arguments.plan,
                max_pages=arguments.max_pages,
                max_draft_pages=arguments.max_draft_pages,
                renewal_day=arguments.renewal_day,
                with_workspace=not arguments.no_workspace,
                verified=not arguments.unverified,
            )
        )
    print_result(asdict(made), as_json=arguments.json)
    return 0


def run_set(arguments: argparse.Namespace) -> int:
    """Change what is given of an account; every front sees it on the next request."""
    account_id = arguments.account_id
    changes = {name: getattr(arguments, name) for name in _CHANGES}
    if all(value is None for value in changes.values()):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in _CHANGES)
        raise CommandFailed(f"nothing to set; give one of {options}, --enabled, --unverified")
    with open_farm(arguments.data) as farm:

        def change(session: Session) -> list[str]:
            accounts.set_account(session, account_id, **changes)
            return list(accounts.key_digests_of(session, account_id))

        farm.drop_cached(farm.change(change))
    given = {name: value for name, value in changes.items() if value is not None}
    print_result({"account_id": account_id} | given, as_json=arguments.json)
    return 0


_CHANGES = ("disabled", "verified", "plan", "max_pages", "max_draft_pages", "rate_limit")


def _add_create(actions: Commands) -> None:
    parser = actions.add_parser("create", help="make an account with a key", allow_abbrev=False)
    parser.add_argument("--email", required=True, help="address of the account's user")
    parser.add_argument("--name", help="name of the account's user (the address)")
    parser.add_argument("--plan", choices=accounts.PLANS, default="free", help="plan (free)")
    parser.add_argument("--max-pages", type=int, default=1000, metavar="N", help="a period (1000)")
    parser.add_argument("--max-draft-pages", type=int, metavar="N", help="a period (no allowance)")
    parser.add_argument("--renewal-day", type=int, default=1, metavar="D", help="1 to 31 (1)")
    parser.add_argument("--no-workspace", action="store_true", help="no slugs and no images")
    parser.add_argument("--unverified", action="store_true", help="the address is not verified")
    add_farm_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run_create)


def _add_set(actions: Commands) -> None:
    parser = actions.add_parser("set", help="change an account", allow_abbrev=False)
    parser.add_argument("account_id", metavar="ACCOUNT_ID")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--disabled", action="store_true", default=None)
    state.add_argument("--enabled", action="store_false", dest="disabled", default=None)
    address = parser.add_mutually_exclusive_group()
    address.add_argument("--verified", action="store_true", default=None)
    address.add_argument("--unverified", action="store_false", dest="verified", default=None)
    parser.add_argument("--plan", choices=accounts.PLANS)
    parser.add_argument("--max-pages", type=int, metavar="N")
    parser.add_argument("--max-draft-pages", type=int, metavar="N")
    parser.add_argument("--rate-limit", metavar="N/second|N/minute")
    add_farm_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run_set)
