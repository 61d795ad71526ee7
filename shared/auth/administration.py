"""What an operator does to accounts, by the command line and by /v2/admin alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Table, delete, func, or_, select

from shared.auth import accounts, audit
from shared.db.queries import check_not_held
from shared.db.session import Database, Session
from shared.db.tables import (
    IS_UNFINISHED,
    batches,
    contents,
    jobs,
    metadata,
    templates,
    version_links,
    versions,
    webhooks,
    workspaces,
)
from shared.db.tables import accounts as account_rows
from shared.db.tables import webhook_deliveries as deliveries
from shared.errors import ServiceError, Unavailable
from shared.jobs.records import Allowance
from shared.templates.repository import PUBLIC_ACCOUNT
from shared.usage.periods import find_period
from shared.usage.repository import find_totals

if TYPE_CHECKING:  # commands that need no Redis do not load it
    from shared.auth.admission import ShardedAdmissionCache

_AT_ONCE: Final = 500
# Metered pages are billed whatever becomes of the account; the audit log says who deleted it. Equal content of
# other accounts is the same row: maintenance deletes what nothing refers to.
_KEPT: Final = (
    "audit_log",
    "usage_ledger",
    "usage_totals",
    "usage_days",
    "usage_templates",
    "contents",
)


def list_all_accounts(database: Database) -> list[accounts.AccountInfo]:
    """Return all accounts, ordered by id."""
    found: list[accounts.AccountInfo] = []
    with database.snapshot() as session:
        while True:
            after = found[-1].account_id if found else None
            page = accounts.list_accounts(session, after=after, limit=_AT_ONCE)
            found += page
            if len(page) < _AT_ONCE:
                return found


def change_account(
    session: Session, account_id: str, changes: accounts.AccountChanges, *, actor: str
) -> Sequence[str]:
    """Change an account, and return the digests of its keys, whose cached states are out of date then.

    Raises:
        LookupError: there is no such account.
        ValueError: a value is out of range.
    """
    accounts.set_account(session, account_id, **changes.given)
    audit.record(session, account_id, actor, "account.changed", account_id, changes.given)
    return accounts.key_digests_of(session, account_id)


def report_usage(
    session: Session,
    key_states: ShardedAdmissionCache | None,
    account: accounts.AccountInfo,
    day: date,
) -> dict[str, Any]:
    """Report the billing period of an account that contains a day: pages in the ledger, and not recorded yet.

    What is not recorded yet is None while Redis is unavailable, or without `key_states`.
    """
    period = find_period(day, renewal_day=account.renewal_day)
    start, end = period.key, period.end.isoformat()
    used = find_totals(session, account.account_id, start)
    counted = None
    if key_states is not None:
        with suppress(Unavailable):
            # Without a counter in Redis there is no unrecorded usage.
            cache = key_states.of(account.account_id)
            counted = cache.find_usage(account.account_id, start) or used
    terms = {Allowance.PRODUCTION: account.max_pages, Allowance.DRAFT: account.max_draft_pages}
    report: dict[str, Any] = {
        "account_id": account.account_id,
        "plan": account.plan,
        "period_start": start,
        "period_end": end,
        "cpu_seconds": used.cpu_seconds,
        "max_cpu_seconds": account.max_cpu_seconds,
    }
    for allowance, most in terms.items():
        of_ledger = used.of(allowance)
        unrecorded = None
        if counted is not None:
            unrecorded = max(counted.of(allowance).pages - of_ledger.pages, 0)
        report[allowance.value] = {
            "pages": of_ledger.pages,
            "renders": of_ledger.calls,
            "max_pages": most,
            "pages_not_in_the_ledger_yet": unrecorded,
        }
    return report


def delete_account(session: Session, account_id: str) -> None:
    """Delete an account with all that the database has of it, except what was metered.

    Its files in the object store are deleted by the maintenance process, since nothing names them any more.

    Raises:
        LookupError: there is no such account.
        ServiceError: 409, it is not disabled, its work has not ended, or it has a legal hold or the public templates.
    """
    check_not_held(session, account_id)
    if account_id == PUBLIC_ACCOUNT:
        raise ServiceError(409, "The account has the public templates of the service.")
    if not accounts.get_account(session, account_id).is_disabled:
        raise ServiceError(409, "The account is not disabled: disable it first.")
    unfinished = jobs.c.status.in_(("queued", "running")) & (jobs.c.account_id == account_id)
    running = IS_UNFINISHED & (batches.c.account_id == account_id)
    for table, condition in ((jobs, unfinished), (batches, running)):
        if session.scalar(select(func.count()).select_from(table).where(condition)):
            raise ServiceError(409, f"The account has {table.name} that have not ended; try again.")
    # Rows that refer to others come first.
    for table, is_own in reversed(list(list_owned_rows(account_id))):
        if table.name not in _KEPT:
            session.execute(delete(table).where(is_own))


def list_owned_rows(account_id: str) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """Yield each table that has rows of an account, and which these are; before those whose rows refer to its rows."""
    owned = {
        "workspace_id": select(workspaces.c.id).where(workspaces.c.account_id == account_id),
        "template_id": select(templates.c.id).where(templates.c.account_id == account_id),
        "webhook_id": select(webhooks.c.id).where(webhooks.c.account_id == account_id),
        "batch_id": select(batches.c.id).where(batches.c.account_id == account_id),
        "delivery_id": select(deliveries.c.id).where(deliveries.c.account_id == account_id),
    }
    for table in metadata.sorted_tables:
        of_account = table.c.get("account_id")
        conditions: list[ColumnElement[bool]] = [
            table.c[name].in_(ids) for name, ids in owned.items() if name in table.c
        ]
        if table is account_rows:
            conditions = [table.c.id == account_id]
        elif table is contents:
            named = [select(templates.c.sha256).where(templates.c.account_id == account_id)]
            for each in (versions, version_links):
                is_own = each.c.template_id.in_(owned["template_id"])
                named.append(select(each.c.sha256).where(is_own))
            conditions = [table.c.sha256.in_(found) for found in named]
        elif of_account is not None and not of_account.nullable:
            # Alone: others may have used what is its own, such as a public template.
            conditions = [of_account == account_id]
        elif of_account is not None:
            conditions.append(of_account == account_id)
        if conditions:
            yield table, or_(*conditions)
