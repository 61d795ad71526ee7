"""The stored output plans of an account: each has versions, which never change."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, delete, func, insert, select

from shared.batches.plans import Plan, StoredPlan
from shared.db.queries import lock_account, upsert_row
from shared.db.session import Session
from shared.db.tables import plan_tags, plans
from shared.errors import ServiceError
from shared.templates.references import LATEST, LIVE, parse_reference

MAX_PLANS: Final = 1000  # of an account
MAX_VERSIONS: Final = 1000  # of a plan
MAX_TAGS: Final = 100  # of a plan


def put_plan(
    session: Session, account_id: str, name: str, plan: Plan, *, at: datetime
) -> tuple[StoredPlan, bool]:
    """Store a plan, and return its version and whether it is new: an equal plan stays what it is.

    Raises:
        ServiceError: 409, the account has `MAX_PLANS`, or the plan `MAX_VERSIONS`.
    """
    lock_account(session, account_id)
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
    """Delete all versions of a plan with their tags; return whether there was one. Runs keep what they began with."""
    gone = session.execute(
        delete(plans)
        .where(plans.c.account_id == account_id, plans.c.name == name)
        .returning(plans.c.version)
    )
    return gone.first() is not None


def resolve_plan(session: Session, account_id: str, reference: str) -> StoredPlan:
    """Return the plan of a reference: its name, name@version or name@tag.

    Raises:
        ServiceError: 400 for another form, 404 without such a plan.
    """
    wanted = parse_reference(reference, field="plan")
    version: int | str | None = wanted.selector
    if version in (LIVE, LATEST):
        version = None  # a plan has no other content than its versions
    elif isinstance(version, str):
        version = list_tags(session, account_id, wanted.identifier).get(version, 0)  # there is no 0
    found = find_plan(session, account_id, wanted.identifier, version=version)
    if found is None:
        raise ServiceError(404, f"The plan {reference[:100]!r} does not exist.")
    return found


def list_tags(session: Session, account_id: str, name: str) -> dict[str, int]:
    """Return the version of each tag of a plan, by name."""
    query = select(plan_tags).filter_by(account_id=account_id, name=name).order_by(plan_tags.c.tag)
    return {row.tag: row.version for row in session.execute(query)}


def set_tag(session: Session, account_id: str, name: str, tag: str, *, version: int) -> None:
    """Create a tag of a plan, or move it to another version.

    Raises:
        ServiceError: 404, there is no such version; 409, the plan has `MAX_TAGS`.
    """
    key = {"account_id": account_id, "name": name, "version": version}
    # Locked, so that the plan is not deleted before the tag is stored.
    tagged = select(plans.c.version).filter_by(**key).with_for_update(key_share=True)
    if session.scalar(tagged) is None:
        raise ServiceError(404, f"The plan '{name}@{version}' does not exist.")
    held = list_tags(session, account_id, name)
    if tag not in held and len(held) >= MAX_TAGS:
        raise ServiceError(409, f"The plan has {MAX_TAGS} tags, which is the limit.")
    row = {**key, "tag": tag}
    session.execute(upsert_row(session, plan_tags, row, updated=("version",)))


def remove_tag(session: Session, account_id: str, name: str, tag: str) -> bool:
    """Remove a tag of a plan; return whether there was one."""
    held = delete(plan_tags).filter_by(account_id=account_id, name=name, tag=tag)
    return session.execute(held.returning(plan_tags.c.tag)).first() is not None


def _read(row: RowMapping) -> StoredPlan:
    return StoredPlan.of_row(
        {name: row[name] for name in ("name", "version", "plan", "created_at")}
    )
