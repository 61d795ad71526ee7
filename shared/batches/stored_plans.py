"""The stored output plans of an account: each has versions, which never change."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, delete, func, insert, select

from shared.batches.plans import Plan, StoredPlan, check_plan_name
from shared.db.session import Session
from shared.db.tables import plans
from shared.errors import ServiceError

MAX_PLANS: Final = 1000  # of an account
MAX_VERSIONS: Final = 1000  # of a plan


def put_plan(
    session: Session, account_id: str, name: str, plan: Plan, *, at: datetime
) -> tuple[StoredPlan, bool]:
    """Store a plan, and return its version and whether it is new: an equal plan stays what it is.

    Raises:
        ServiceError: 409, the account has `MAX_PLANS`, or the plan `MAX_VERSIONS`.
    """
    newest = find_plan(session, account_id, name, version=None)
    if newest is not None and newest.plan == plan:
        return newest, False
    if newest is None and len(list_plans(session, account_id)) >= MAX_PLANS:
        raise ServiceError(409, f"The account has {MAX_PLANS:,} plans, which is the limit.")
    stored = StoredPlan(name, newest.version + 1 if newest else 1, plan, at)
    if stored.version > MAX_VERSIONS:
        raise ServiceError(409, f"The plan has {MAX_VERSIONS:,} versions, which is the limit.")
    row = {**stored.to_builtins(), "account_id": account_id, "created_at": at}
    session.execute(insert(plans).values(row))
    return stored, True


def find_plan(
    session: Session, account_id: str, name: str, *, version: int | None
) -> StoredPlan | None:
    """Return a version of a plan, the newest one without a number."""
    columns = plans.c
    query = select(plans).where(columns.account_id == account_id, columns.name == name)
    if version is not None:
        query = query.where(columns.version == version)
    row = session.execute(query.order_by(columns.version.desc()).limit(1)).mappings().first()
    return None if row is None else _read(row)


def list_plans(session: Session, account_id: str) -> list[StoredPlan]:
    """Return the newest version of each plan, by name."""
    columns = plans.c
    newest = (
        select(columns.name, func.max(columns.version).label("version"))
        .where(columns.account_id == account_id)
        .group_by(columns.name)
        .subquery()
    )
    query = (
        select(plans)
        .join(newest, (columns.name == newest.c.name) & (columns.version == newest.c.version))
        .where(columns.account_id == account_id)
        .order_by(columns.name)
    )
    return [_read(row) for row in session.execute(query).mappings()]


def delete_plan(session: Session, account_id: str, name: str) -> bool:
    """Delete all versions of a plan; return whether there was one. Runs keep what they began with."""
    gone = session.execute(
        delete(plans)
        .where(plans.c.account_id == account_id, plans.c.name == name)
        .returning(plans.c.version)
    )
    return gone.first() is not None


def resolve_plan(session: Session, account_id: str, reference: str) -> StoredPlan:
    """Return the plan of a reference: its name, or name@version.

    Raises:
        ServiceError: 400 for another form, 404 without such a plan.
    """
    name, _, version = reference.partition("@")
    check_plan_name(name)
    if "@" in reference and not (version.isascii() and version.isdigit() and len(version) < 9):
        raise ServiceError(
            400, f"Invalid version {version[:40]!r} of a plan: accepted is its number."
        )
    found = find_plan(session, account_id, name, version=int(version) if version else None)
    if found is None:
        raise ServiceError(404, f"The plan {reference[:100]!r} does not exist.")
    return found


def _read(row: RowMapping) -> StoredPlan:
    return StoredPlan.of_row(
        {name: row[name] for name in ("name", "version", "plan", "created_at")}
    )
