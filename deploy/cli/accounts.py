"""`pressroom account create|set|list|usage`: accounts, their limits and their usage."""

from __future__ import annotations

import argparse
from contextlib import suppress
from datetime import UTC, date
from typing import Any, Final

import msgspec

from deploy.cli.farm import FarmStores, open_farm
from deploy.cli.output import CommandFailed, print_result, write_table
from shared.auth import accounts
from shared.clock import now, timestamp
from shared.db.session import Session
from shared.errors import Unavailable
from shared.jobs.records import Allowance
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
        found = _list_all(farm)
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
    """Report usage of a billing period, of one account or of all: pages in the ledger, and not recorded yet."""
    account_id, today = arguments.account_id, arguments.date or now().astimezone(UTC).date()
    with open_farm(arguments.data) as farm:
        if account_id is None:
            reports = [_report(farm, account, today) for account in _list_all(farm)]
        else:
            account = farm.read(lambda session: accounts.get_account(session, account_id))
            reports = [_report(farm, account, today)]
    if account_id is not None:
        print_result(reports[0], as_json=arguments.json)
    elif arguments.json:
        print_result({"accounts": reports}, as_json=True)
    else:
        head = ["account", "plan", "from", "to", *(f"{each} pages" for each in Allowance)]
        rows = [
            [
                *(report[name] for name in ("account_id", "plan", "period_start", "period_end")),
                *(str(report[allowance]["pages"]) for allowance in Allowance),
            ]
            for report in reports
        ]
        print(write_table(head, rows))
    return 0


def _list_all(farm: FarmStores) -> list[accounts.AccountInfo]:
    found: list[accounts.AccountInfo] = []
    with farm.database.snapshot() as session:
        while True:
            after = found[-1].account_id if found else None
            page = accounts.list_accounts(session, after=after, limit=_AT_ONCE)
            found += page
            if len(page) < _AT_ONCE:
                return found


def _report(farm: FarmStores, account: accounts.AccountInfo, today: date) -> dict[str, Any]:
    period = find_period(today, renewal_day=account.renewal_day)
    start, end = period.key, period.end.isoformat()
    used = farm.read(lambda session: find_totals(session, account.account_id, start))
    counted = None
    if farm.key_states is not None:
        with suppress(Unavailable):
            # Without a counter in Redis there is no unrecorded usage.
            cache = farm.key_states.of(account.account_id)
            counted = cache.find_usage(account.account_id, start) or used
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
