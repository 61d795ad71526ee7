"""Commands of an operator by the API of a farm: with `--url` they call /v2/admin in place of the farm's stores.

A call is sent once, since a second one would create a second account or key.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from deploy.cli.accounts import print_accounts, print_usage, read_changes, read_terms
from deploy.cli.output import CommandFailed, Result
from deploy.cli.queues import await_idle
from deploy.embedded.plan import operator_environment
from pressroom_client.transport import RequestOptions, Transport
from shared.auth.accounts import AccountInfo
from shared.auth.scopes import list_scopes
from shared.clock import timestamp
from shared.jobs.records import Allowance

_TIMEOUT_SECONDS: Final = 60.0


def create_account(arguments: argparse.Namespace) -> Result:
    """Create an account with one user and one key; only this output contains the key."""
    made: Result = _call(arguments, "POST", "accounts", accounts=[read_terms(arguments)])[
        "accounts"
    ][0]
    return made


def set_account(arguments: argparse.Namespace) -> Result:
    """Change the given properties of an account."""
    changes = read_changes(arguments).given
    return _call(arguments, "PATCH", "accounts", arguments.account_id, **changes)


def list_accounts(arguments: argparse.Namespace) -> Result | None:
    """List all accounts with plan, limits and state."""
    found: list[dict[str, Any]] = []
    farm = _connect(arguments)
    after: str | None = ""
    while after is not None:
        query = {"limit": "1000", "start_after": after or None}
        page = farm.request_json("GET", "admin", "accounts", query=query)
        found += page["accounts"]
        after = page.get("next_cursor")
    return print_accounts([AccountInfo.of_builtins(each) for each in found], arguments)


def report_usage(arguments: argparse.Namespace) -> Result | None:
    """Report usage of a billing period, of one account or of all: pages in the ledger."""
    query = {"date": arguments.date.isoformat() if arguments.date else None}
    lines, _ = _connect(arguments).request("GET", "admin", "usage", query=query)
    rows = [json.loads(line) for line in lines.splitlines()]
    asked = arguments.account_id
    if not (found := [row for row in rows if asked in (None, row["account_id"])]) and asked:
        raise CommandFailed(f"There is no account {asked!r}.")
    return print_usage([_nest(row) for row in found], arguments)


def create_key(arguments: argparse.Namespace) -> Result:
    """Create a key; only this output contains it."""
    terms: dict[str, Any] = {"scopes": list_scopes(arguments.scopes)}
    if arguments.expires_at:
        terms["expires_at"] = timestamp(arguments.expires_at)
    return _call(arguments, "POST", "accounts", arguments.account_id, "keys", **terms)


def drain_queue(arguments: argparse.Namespace) -> Result:
    """Drain a queue: running jobs end, queued jobs stay, and synchronous requests are rejected."""
    drained = _call(arguments, "PATCH", "queues", arguments.queue, is_drained=True)
    if arguments.wait is not None:
        await_idle(lambda: int(_read_queue(arguments)["running"]), arguments.queue, arguments.wait)
        return _read_queue(arguments)
    return drained


def resume_queue(arguments: argparse.Namespace) -> Result:
    """Resume a queue; its queued jobs start within seconds."""
    return _call(arguments, "PATCH", "queues", arguments.queue, is_drained=False)


def _read_queue(arguments: argparse.Namespace) -> Result:
    status = _call(arguments, "GET", "status")
    if not status["healthy"]:
        raise CommandFailed(f"the farm is not well: {', '.join(status['problems'])} do not answer")
    queues: list[Result] = status["queues"]
    return next(each for each in queues if each["name"] == arguments.queue)


def _nest(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the usage of all accounts in the form of the report of one."""
    counted = {
        allowance.value: {
            name: row.pop(f"{allowance}_{name}") for name in ("pages", "renders", "max_pages")
        }
        for allowance in Allowance
    }
    return row | counted


def _call(arguments: argparse.Namespace, method: str, *parts: str, **fields: Any) -> dict[str, Any]:
    named: RequestOptions = {"fields": fields} if fields else {}
    answer: dict[str, Any] = _connect(arguments).request_json(method, "admin", *parts, **named)
    return answer


def _connect(arguments: argparse.Namespace) -> Transport:
    key = operator_environment().get("PRESSROOM_ADMIN_KEY")
    if not key:
        raise CommandFailed("set PRESSROOM_ADMIN_KEY to one of the farm's PRESSROOM_ADMIN_KEYS")
    return Transport(arguments.url, key, attempts=1, timeout_seconds=_TIMEOUT_SECONDS)
