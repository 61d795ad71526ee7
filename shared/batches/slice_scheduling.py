"""Fair scheduling of slices: round-robin over accounts, and for each over its batches and accepted renders.

Express batches are before the others of their account, never before another account. Night batches wait
until no account has other work to queue; after twelve hours they are normal ones (decision 0516). A batch is
express an hour before its deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from shared.batches.plans import Priority
from shared.batches.records import ChunkStatus, JobSlice, Slice
from shared.db.queries import belongs_to_slots, upsert_row
from shared.db.session import Session
from shared.db.tables import (
    IS_ACCEPTED,
    IS_IN_FLIGHT,
    IS_NOT_NORMAL,
    IS_OPEN,
    IS_UNFINISHED,
    IS_WAITING,
    Instant,
    batch_chunks,
    batch_turns,
    batches,
    job_slices,
    jobs,
)
from shared.identifiers import new_id

ScheduledSlice: TypeAlias = Slice | JobSlice

NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # the time of those without a queued slice yet
# An account has at most as many queued slices as waiting accepted renders; counting stops here.
_MOST_COUNTED: Final = 100
# The largest clock difference between two machines; jobs are postponed by more than this.
CLOCK_SLACK: Final = timedelta(seconds=1)
NIGHT: Final = timedelta(hours=12)
HURRY: Final = timedelta(hours=1)  # before a deadline

_IN_QUEUE: Final = and_(IS_IN_FLIGHT, batch_chunks.c.status == ChunkStatus.QUEUED)
_WAITS: Final = and_(
    batch_chunks.c.status == ChunkStatus.QUEUED, batch_chunks.c.queued_at.is_(None)
)
IS_DUE: Final = and_(IS_WAITING, jobs.c.queued_at <= bindparam("due_at", type_=Instant))
_IS_EXPRESS: Final = and_(IS_NOT_NORMAL, batches.c.priority == Priority.EXPRESS)
_IS_NIGHT: Final = and_(IS_NOT_NORMAL, batches.c.priority == Priority.NIGHT)
_IS_OVER: Final = batches.c.created_at <= bindparam("night_over_at", type_=Instant)
_IS_USUAL: Final = or_(~IS_NOT_NORMAL, and_(_IS_NIGHT, _IS_OVER))


def needs_slices(
    session: Session, *, window: int, at: datetime, slots: frozenset[str] | None = None
) -> bool:
    """Return whether fewer than `window` slices are queued and more are available.

    `slots` selects the accounts of a shard; None means all accounts.
    """
    if _count_in_queue(session, slots) >= window:
        return False
    return _find_next(session, select_next, slots, at, _list_shifts(session)) is not None


def claim_slices(
    session: Session, *, window: int, at: datetime, slots: frozenset[str] | None = None
) -> list[ScheduledSlice]:
    """Claim slices until `window` of them are queued, and return them.

    The account whose last slice was queued longest ago is next, and likewise its batches of the first
    priority; its accepted renders count as one more normal batch. So an account delays another by no more
    than the window.
    """
    room = window - _count_in_queue(session, slots)
    shifts = _list_shifts(session) if room > 0 else ()
    claimed: list[ScheduledSlice] = []
    # A concurrent process may win a claim; then this call returns one slice less.
    for turn in range(max(room, 0)):
        found = _find_next(session, _next_free, slots, at, shifts)
        if found is None:
            break
        # Distinct times, so that the slices of one call keep their order.
        fed_at = at + timedelta(microseconds=turn)
        if _is_jobs_turn(session, found):
            claimed.append(_add_job_slice(session, found.account_id, fed_at))
        else:
            _record_turn(session, found.account_id, fed_at=fed_at)
            is_next = batches.c.id == found.batch_id
            session.execute(update(batches).where(is_next).values(fed_at=fed_at))
            claimed += _claim_chunk(session, found.batch_id, at)
    return claimed


def hasten_batches(session: Session, *, at: datetime) -> int:
    """Make unfinished batches express whose deadline is near, and return how many."""
    is_near = batches.c.deadline <= at + HURRY
    is_other = batches.c.priority != Priority.EXPRESS
    hastened = update(batches).where(IS_UNFINISHED, is_near, is_other)
    return session.execute(hastened.values(priority=Priority.EXPRESS)).rowcount


def list_in_flight(
    session: Session, *, limit: int, slots: frozenset[str] | None = None
) -> list[ScheduledSlice]:
    """Return the slices of some accounts that are queued or running."""
    columns = batch_chunks.c
    chunks = (
        select(columns.batch_id, columns.number, columns.done)
        .where(IS_IN_FLIGHT, _is_of(slots))
        .order_by(columns.queued_at)
        .limit(limit)
    )
    of_jobs = (
        select(job_slices.c.id)
        .where(belongs_to_slots(job_slices.c.account_id, slots))
        .order_by(job_slices.c.queued_at)
        .limit(limit)
    )
    found: list[ScheduledSlice] = [Slice(*row) for row in session.execute(chunks)]
    return found + [JobSlice(slice_id) for slice_id in session.scalars(of_jobs)]


def _find_next(
    session: Session,
    choose: Callable[[frozenset[str] | None, Shift], Select[Any]],
    slots: frozenset[str] | None,
    at: datetime,
    shifts: Iterable[Shift],
) -> Row[Any] | None:
    times = {"due_at": at + CLOCK_SLACK, "night_over_at": at - NIGHT}
    found = (session.execute(choose(slots, shift), times).first() for shift in shifts)
    return next((row for row in found if row is not None), None)


def _is_jobs_turn(session: Session, found: Row[Any]) -> bool:
    if found.batch_id is None or not found.has_jobs:
        return bool(found.has_jobs)
    columns = batches.c
    its_turn = select(columns.priority, columns.fed_at).where(columns.id == found.batch_id)
    priority, fed_at = session.execute(its_turn).one()
    return priority != Priority.EXPRESS and (found.jobs_fed_at or NEVER) <= (fed_at or NEVER)


def _add_job_slice(session: Session, account_id: str, at: datetime) -> JobSlice:
    _record_turn(session, account_id, fed_at=at, jobs_fed_at=at)
    added = JobSlice(new_id("slice"))
    row = {"id": added.id, "account_id": account_id, "is_running": False, "queued_at": at}
    session.execute(insert(job_slices).values(row))
    return added


def _record_turn(session: Session, account_id: str, **times: datetime) -> None:
    is_its_turn = batch_turns.c.account_id == account_id
    session.execute(update(batch_turns).where(is_its_turn).values(**times))


def _claim_chunk(session: Session, batch_id: str, at: datetime) -> list[Slice]:
    columns = batch_chunks.c
    next_number = (
        select(func.min(columns.number)).where(columns.batch_id == batch_id, _WAITS)
    ).scalar_subquery()
    found = session.execute(
        update(batch_chunks)
        .where(columns.batch_id == batch_id, columns.number == next_number, _WAITS)
        .values(queued_at=at)
        .returning(columns.number, columns.done)
    )
    return [Slice(batch_id, number, done) for number, done in found]


def _count_in_queue(session: Session, slots: frozenset[str] | None) -> int:
    return int(session.scalar(select_in_queue(slots)) or 0)


# Cached: building this statement takes SQLAlchemy longer than running it.
@lru_cache(maxsize=8)
def select_in_queue(slots: frozenset[str] | None) -> Select[Any]:
    """Select the number of slices that are queued or running."""
    chunks = select(func.count()).select_from(batch_chunks).where(_IN_QUEUE, _is_of(slots))
    of_jobs = (
        select(func.count())
        .select_from(job_slices)
        .where(job_slices.c.is_running == false(), belongs_to_slots(job_slices.c.account_id, slots))
    )
    return select(chunks.scalar_subquery() + of_jobs.scalar_subquery())


def _is_of(slots: frozenset[str] | None) -> ColumnElement[bool]:
    if slots is None:
        return true()
    batch = select(batches.c.id).where(
        batches.c.id == batch_chunks.c.batch_id, belongs_to_slots(batches.c.account_id, slots)
    )
    return batch.exists()


class Shift(Enum):
    """The work that is queued at a time: that of the night once there is none of the day."""

    USUAL = (true(),)  # where no batch has another priority
    DAY = (_IS_EXPRESS, _IS_USUAL)
    NIGHT = (_IS_NIGHT,)


# With an account SQLite reads the index of those with a priority rather than all unfinished ones.
_HAS_PRIORITIES: Final = select(
    select(batches.c.id).where(IS_UNFINISHED, IS_NOT_NORMAL, batches.c.account_id > "").exists()
)


def _list_shifts(session: Session) -> Sequence[Shift]:
    return (Shift.DAY, Shift.NIGHT) if session.scalar(_HAS_PRIORITIES) else (Shift.USUAL,)


@lru_cache(maxsize=16)
def select_next(slots: frozenset[str] | None, shift: Shift = Shift.USUAL) -> Select[Any]:
    """Select the next account, its next batch of a shift, and whether it has accepted renders.

    Accounts and batches are read in index order, up to the first batch with a waiting chunk; in two
    parts, since the two databases sort NULL differently. Only batches whose chunks are all running, and
    those of another priority, are skipped.
    """
    columns = batch_turns.c
    batch_id = func.coalesce(
        *(
            _first_batch(and_(of_priority, fed))
            for of_priority in shift.value
            for fed in (batches.c.fed_at.is_(None), batches.c.fed_at.is_not(None))
        )
    )
    # Asked of all accounts, also of those that another process has locked to claim work of the day.
    is_now = (
        true()
        if shift is not Shift.NIGHT
        else ~select_next(slots, Shift.DAY).correlate(None).exists()
    )
    has_jobs = _count_due_jobs() > _count_slices_of_jobs()
    return (
        select(
            columns.account_id,
            columns.jobs_fed_at,
            batch_id.label("batch_id"),
            has_jobs.label("has_jobs"),
        )
        .where(or_(batch_id.is_not(None), has_jobs), belongs_to_slots(columns.account_id, slots))
        .where(is_now)
        .order_by(columns.fed_at, columns.created_at)
        .limit(1)
    )


@lru_cache(maxsize=16)
def _next_free(slots: frozenset[str] | None, shift: Shift) -> Select[Any]:
    """Select and lock the next account, skipping accounts locked by other processes.

    Claimers lock several accounts in changing order, so waiting for a lock could deadlock. The lock does
    not block `ensure_in_rotation`.
    """
    return select_next(slots, shift).with_for_update(
        of=batch_turns, skip_locked=True, key_share=True
    )


def _first_batch(condition: ColumnElement[bool]) -> ScalarSelect[str]:
    has_more = (
        select(batch_chunks.c.number)
        .where(batch_chunks.c.batch_id == batches.c.id, IS_OPEN, _WAITS)
        .exists()
    )
    return (
        select(batches.c.id)
        .where(batches.c.account_id == batch_turns.c.account_id, IS_UNFINISHED, condition, has_more)
        .order_by(batches.c.fed_at, batches.c.created_at)
        .limit(1)
        .correlate(batch_turns)
        .scalar_subquery()
    )


def _count_due_jobs() -> ScalarSelect[int]:
    due = (
        select(jobs.c.id)
        .where(jobs.c.account_id == batch_turns.c.account_id, IS_DUE)
        .limit(_MOST_COUNTED)
        .correlate(batch_turns)
        .subquery()
    )
    return select(func.count()).select_from(due).scalar_subquery()


def _count_slices_of_jobs() -> ScalarSelect[int]:
    columns = job_slices.c
    return (
        select(func.count())
        .select_from(job_slices)
        .where(columns.account_id == batch_turns.c.account_id, columns.is_running == false())
        .correlate(batch_turns)
        .scalar_subquery()
    )


_HAS_WORK: Final = or_(
    select(batches.c.id)
    .where(batches.c.account_id == batch_turns.c.account_id, IS_UNFINISHED)
    .correlate(batch_turns)
    .exists(),
    select(jobs.c.id)
    .where(jobs.c.account_id == batch_turns.c.account_id, IS_ACCEPTED)
    .correlate(batch_turns)
    .exists(),
)
_IDLE: Final = select(batch_turns.c.account_id).where(~_HAS_WORK)


def add_to_rotation(session: Session, account_id: str, *, at: datetime) -> None:
    """Add an account to the rotation if it is missing; call it before its work is recorded.

    Locks the row until the unit of work ends, so that `remove_idle_accounts` sees the work.
    """
    row = {"account_id": account_id, "fed_at": NEVER, "created_at": at}
    session.execute(upsert_row(session, batch_turns, row, updated=("account_id",)))


def ensure_in_rotation(session: Session, account_ids: Iterable[str], *, at: datetime) -> None:
    """Add the missing accounts to the rotation; concurrent calls for the same accounts do not block."""
    wanted = frozenset(account_ids)
    of_these = select(batch_turns.c.account_id).where(batch_turns.c.account_id.in_(wanted))
    # FOR KEY SHARE does not conflict with the lock of `claim_slices`: neither waits for the other.
    there = session.scalars(of_these.with_for_update(read=True, key_share=True)).all()
    for account_id in sorted(wanted.difference(there)):  # in a fixed order, to avoid deadlocks
        add_to_rotation(session, account_id, at=at)


def has_idle_accounts(session: Session) -> bool:
    """Return whether `remove_idle_accounts` has something to do."""
    return bool(session.scalar(select(_IDLE.exists())))


def remove_idle_accounts(session: Session, *, limit: int) -> int:
    """Remove accounts without work from the rotation; return how many."""
    idle = session.scalars(_IDLE.limit(limit).with_for_update(skip_locked=True)).all()
    if not idle:
        return 0
    # Checked again now that the rows are locked: work may have been recorded meanwhile.
    gone = delete(batch_turns).where(batch_turns.c.account_id.in_(idle), ~_HAS_WORK)
    return session.execute(gone).rowcount
