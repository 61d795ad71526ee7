"""`pressroom account create|set|list|usage`: accounts, their limits and their usage."""

from __future__ import annotations

import argparse
from contextlib import suppress
from datetime import UTC
from typing import Any, Final

import msgspec

from deploy.cli.farm import open_farm
from deploy.cli.output import CommandFailed, print_result, write_table
from shared.auth import accounts
from shared.clock import now, timestamp
from shared.db.session import Session
from shared.errors import Unavailable
from shared.jobs.records import Allowance
from shared.usage.metering import Totals
from shared.usage.periods import find_period
from shared.usage.repository import find_totals

_AT_ONCE: Final = 500


def run_create(arguments: argparse.Namespace) -> int:
    """Create an account with one user and one key; only this output contains the key."""
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
    print_result(msgspec.to_builtins(made), as_json=arguments.json)
    return 0


def run_set(arguments: argparse.Namespace) -> int:
    """Change the given properties of an account; every front applies them on the next request."""
    account_id = arguments.account_id
    changes = {name: getattr(arguments, name) for name in _CHANGES}
    if all(value is None for value in changes.values()):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in _CHANGES)
        raise CommandFailed(f"nothing to set; pass one of {options}, --enabled, --unverified")
    with open_farm(arguments.data) as farm:

        def change(session: Session) -> list[str]:
            accounts.set_account(session, account_id, **changes)
            return list(accounts.key_digests_of(session, account_id))

        farm.invalidate_keys(account_id, farm.change(change))
    given = {name: value for name, value in changes.items() if value is not None}
    print_result({"account_id": account_id} | given, as_json=arguments.json)
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """List all accounts with plan, limits and state."""
    with open_farm(arguments.data) as farm:
        found: list[accounts.AccountInfo] = []
        with farm.database.snapshot() as session:
            while True:
                after = found[-1].account_id if found else None
                page = accounts.list_accounts(session, after=after, limit=_AT_ONCE)
                found += page
                if len(page) < _AT_ONCE:
                    break
    if arguments.json:
        shown = [
            msgspec.structs.asdict(each) | {"created_at": timestamp(each.created_at)}
            for each in found
        ]
        print_result({"accounts": shown}, as_json=True)
        return 0
    rows = [
        [
            each.account_id,
            each.plan,
            str(each.max_pages),
            str(each.renewal_day),
            each.name,
            _state(each),
        ]
        for each in found
    ]
    print(write_table(["account", "plan", "pages", "renewal day", "name", "state"], rows))
    return 0


def _state(account: accounts.AccountInfo) -> str:
    states = {"disabled": account.is_disabled, "unverified": not account.is_email_verified}
    return " ".join(state for state, holds in states.items() if holds)


def run_usage(arguments: argparse.Namespace) -> int:
    """Report an account's usage of a billing period: pages in the ledger, and pages not recorded yet."""
    with open_farm(arguments.data) as farm:
        today = arguments.date or now().astimezone(UTC).date()

        def read(session: Session) -> tuple[accounts.AccountInfo, str, str, Totals]:
            account = accounts.get_account(session, arguments.account_id)
            period = find_period(today, renewal_day=account.renewal_day)
            used = find_totals(session, account.account_id, period.key)
            return account, period.key, period.end.isoformat(), used

        account, start, end, used = farm.read(read)
        counted = None
        if farm.key_states is not None:
            with suppress(Unavailable):
                # Without a counter in Redis there is no unrecorded usage.
                cache = farm.key_states.of(account.account_id)
                counted = cache.find_usage(account.account_id, start) or used
    print_result(_report(account, start, end, used, counted), as_json=arguments.json)
    return 0


def _report(
    account: accounts.AccountInfo, start: str, end: str, used: Totals, counted: Totals | None
) -> dict[str, Any]:
    terms = {Allowance.PRODUCTION: account.max_pages, Allowance.DRAFT: account.max_draft_pages}
    report: dict[str, Any] = {
        "account_id": account.account_id,
        "plan": account.plan,
        "period_start": start,
        "period_end": end,
    }
    for allowance, most in terms.items():
        of_ledger = used.of(allowance)
        unrecorded = None  # unknown while Redis is unavailable
        if counted is not None:
            unrecorded = max(counted.of(allowance).pages - of_ledger.pages, 0)
        report[allowance.value] = {
            "pages": of_ledger.pages,
            "renders": of_ledger.calls,
            "max_pages": most,
            "pages_not_in_the_ledger_yet": unrecorded,
        }
    return report


_CHANGES = ("disabled", "verified", "plan", "max_pages", "max_draft_pages", "rate_limit")
