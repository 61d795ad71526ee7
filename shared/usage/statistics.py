"""Statistics of the whole farm for its metrics."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, literal, select, tuple_, union_all

from shared.db.queries import slot_expression
from shared.db.session import Session
from shared.db.tables import (
    IS_CLAIMED,
    IS_OPEN,
    IS_UNFINISHED,
    IS_WAITING,
    accounts,
    batch_chunks,
    batches,
    images,
    jobs,
    usage_totals,
)
from shared.jobs.records import Allowance
from shared.limits import MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES
from shared.telemetry.readings import AccountUsage, Backlog
from shared.usage.periods import find_period

_NEARLY_FULL: Final = 0.9
_RENEWAL_DAYS: Final = range(1, 32)


def list_heaviest_accounts(
    session: Session, *, today: date, limit: int
) -> tuple[AccountUsage, ...]:
    """Return the usage of the accounts with the most pages in their current billing periods."""
    current = [(day, find_period(today, renewal_day=day).key) for day in _RENEWAL_DAYS]
    used = usage_totals.c
    rows = session.execute(
        select(
            used.account_id,
            used.allowance,
            used.pages,
            used.calls,
            accounts.c.plan,
            accounts.c.max_pages,
            accounts.c.max_draft_pages,
        )
        .join(accounts, accounts.c.id == used.account_id)
        .where(tuple_(accounts.c.renewal_day, used.period).in_(current))
        .order_by(used.pages.desc(), used.account_id)
        .limit(limit)
    )
    return tuple(
        AccountUsage(
            account_id,
            allowance,
            pages,
            calls,
            _cap(plan, max_draft if allowance == Allowance.DRAFT else max_pages),
        )
        for account_id, allowance, pages, calls, plan, max_pages, max_draft in rows
    )


def measure_backlog(session: Session) -> dict[str, Backlog]:
    """Return the unfinished batches and the remaining documents and accepted renders, by the slot of
    their account (`shared.shards`).
    """
    chunks = batch_chunks.c
    left = (
        select(func.sum(chunks["count"] - chunks.done))
        .where(chunks.batch_id == batches.c.id, IS_OPEN)
        .correlate(batches)
        .scalar_subquery()
    )
    slot = slot_expression(batches.c.account_id)
    per_slot = (
        select(slot, func.count(), func.sum(left), func.min(batches.c.created_at))
        .where(IS_UNFINISHED)
        .group_by(slot)
    )
    found = {
        name: Backlog(int(count), int(documents or 0), oldest_at)
        for name, count, documents, oldest_at in session.execute(per_slot)
    }
    for name, count, oldest_at in session.execute(_ACCEPTED_PER_SLOT):
        before = found.get(name, Backlog())
        oldest = min(filter(None, (before.oldest_at, oldest_at)))
        found[name] = Backlog(before.batches, before.documents + int(count), oldest)
    return found


def _count_per_slot(condition: ColumnElement[bool]) -> Select[str, int, Any]:
    slot = slot_expression(jobs.c.account_id).label("slot")
    counted = select(slot, func.count().label("count"), func.min(jobs.c.queued_at).label("oldest"))
    return counted.where(condition).group_by(slot)


# Each part is an index-only scan.
_ACCEPTED: Final = union_all(_count_per_slot(IS_WAITING), _count_per_slot(IS_CLAIMED)).subquery()
_ACCEPTED_PER_SLOT: Final = select(
    _ACCEPTED.c.slot, func.sum(_ACCEPTED.c.count), func.min(_ACCEPTED.c.oldest)
).group_by(_ACCEPTED.c.slot)


def sum_image_bytes(session: Session) -> int:
    """Return the total bytes of all image records."""
    return int(session.execute(select(func.coalesce(func.sum(images.c.bytes), 0))).scalar_one())


def count_nearly_full(session: Session) -> int:
    """Count the workspaces that use at least 90 % of their bytes or names."""
    full = (
        select(literal(1))
        .select_from(images)
        .group_by(images.c.workspace_id)
        .having(
            (func.sum(images.c.bytes) >= _NEARLY_FULL * MAX_WORKSPACE_BYTES)
            | (func.count() >= _NEARLY_FULL * MAX_WORKSPACE_IMAGES)
        )
    )
    return int(session.execute(select(func.count()).select_from(full.subquery())).scalar_one())


def _cap(plan: str, allowed: int | None) -> int | None:
    return allowed if plan == "free" else None
