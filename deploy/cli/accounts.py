"""`pressroom account create|set|list|usage`: accounts, their limits and their usage."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC
from typing import Any

import msgspec

from deploy.cli.farm import open_farm
from deploy.cli.output import CommandFailed, Result, print_list
from shared.auth import accounts, audit
from shared.auth.administration import change_account, list_all_accounts, report_usage
from shared.clock import now, timestamp
from shared.db.session import Session
from shared.jobs.records import Allowance


def run_create(arguments: argparse.Namespace) -> Result:
    """Create an account with one user and one key; only this output contains the key."""

    def create(session: Session) -> accounts.CreatedAccount:
        made = accounts.create_account(session, **read_terms(arguments))
        details = {"ids": [made.account_id]}
        audit.record(
            session, audit.FARM, audit.OPERATOR, "accounts.created", made.account_id, details
        )
        return made

    with open_farm(arguments.data) as farm:
        made = farm.change(create)
    shown: Result = msgspec.to_builtins(made)
    return shown


def read_terms(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the terms of a new account."""
    names = (
        "email",
        "name",
        "plan",
        "max_pages",
        "max_draft_pages",
        "max_cpu_seconds",
        "renewal_day",
    )
    return {
        **{name: getattr(arguments, name) for name in names},
        "with_workspace": not arguments.no_workspace,
        "verified": not arguments.unverified,
    }


def run_set(arguments: argparse.Namespace) -> Result:
    """Change the given properties of an account; every front applies them on the next request."""
    account_id = arguments.account_id
    changes = read_changes(arguments)
    with open_farm(arguments.data) as farm:
        digests = farm.change(
            lambda session: change_account(session, account_id, changes, actor=audit.OPERATOR)
        )
        farm.invalidate_keys(account_id, digests)
    return {"account_id": account_id} | changes.given


def read_changes(arguments: argparse.Namespace) -> accounts.AccountChanges:
    """Return the given changes of an account.

    Raises:
        CommandFailed: there is none.
    """
    names = accounts.AccountChanges.__struct_fields__
    given: dict[str, Any] = {
        name: None if value == "none" else value
        for name in names
        if (value := getattr(arguments, name)) is not None
    }
    changes = accounts.AccountChanges(**given)
    if not changes.given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        raise CommandFailed(f"nothing to set; pass one of {options}, --enabled, --unverified")
    return changes


def run_list(arguments: argparse.Namespace) -> Result | None:
    """List all accounts with plan, limits and state."""
    with open_farm(arguments.data) as farm:
        found = list_all_accounts(farm.database)
    return print_accounts(found, arguments)


def print_accounts(
    found: Sequence[accounts.AccountInfo], arguments: argparse.Namespace
) -> Result | None:
    """Print accounts as a table, or return them for JSON."""
    shown = [
        msgspec.structs.asdict(each)
        | {"created_at": timestamp(each.created_at), "state": _state(each)}
        for each in found
    ]
    columns = ("account_id", "plan", "max_pages", "renewal_day", "name", "state")
    return print_list("accounts", shown, columns, as_json=arguments.json)


def _state(account: accounts.AccountInfo) -> str:
    states = {
        "disabled": account.is_disabled,
        "held": account.is_held,
        "unverified": not account.is_email_verified,
    }
    return " ".join(state for state, holds in states.items() if holds)


def run_usage(arguments: argparse.Namespace) -> Result | None:
    """Report usage of a billing period, of one account or of all: pages in the ledger, and not recorded yet."""
    account_id, today = arguments.account_id, arguments.date or now().astimezone(UTC).date()
    with open_farm(arguments.data) as farm:
        if account_id is None:
            found = list_all_accounts(farm.database)
        else:
            found = [farm.read(lambda session: accounts.get_account(session, account_id))]
        with farm.database.snapshot() as session:
            reports = [report_usage(session, farm.key_states, each, today) for each in found]
    return print_usage(reports, arguments)


def print_usage(reports: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> Result | None:
    """Print the usage of all accounts as a table, or return that of the one that was asked for, or all for JSON."""
    if arguments.account_id is not None:
        return reports[0]
    if arguments.json:
        return {"accounts": reports}
    shown = [each | {f"{one}_pages": each[one]["pages"] for one in Allowance} for each in reports]
    pages = (f"{one}_pages" for one in Allowance)
    columns = ("account_id", "plan", "period_start", "period_end", *pages, "cpu_seconds")
    return print_list("accounts", shown, columns, as_json=False)
