"""Which slices are queued next: accounts take turns, and of each its batches and its accepted renders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    false,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from shared.batches.records import ChunkStatus, JobSlice, Slice
from shared.db.session import Session
from shared.db.slots import lives_in
from shared.db.tables import (
    IS_IN_FLIGHT,
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

Work: TypeAlias = Slice | JobSlice

NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # before all that were fed
# An account has no more slices in the queue than accepted renders that wait; more are not counted.
_MOST_COUNTED: Final = 100
# The clocks of two machines may differ by so much; what is postponed is postponed by more.
CLOCK_SLACK: Final = timedelta(seconds=1)

_IN_QUEUE: Final = and_(IS_IN_FLIGHT, batch_chunks.c.status == ChunkStatus.QUEUED)
_WAITS: Final = and_(
    batch_chunks.c.status == ChunkStatus.QUEUED, batch_chunks.c.queued_at.is_(None)
)
IS_DUE: Final = and_(IS_WAITING, jobs.c.queued_at <= bindparam("due_at", type_=Instant))


def needs_feeding(
    session: Session, *, window: int, at: datetime, slots: frozenset[str] | None = None
) -> bool:
    """Tell whether fewer slices than these wait in the queue while there are more to be had.

    `slots` say whose queue: that of the accounts which fall to them, of all without.
    """
    if _count_in_queue(session, slots) >= window:
        return False
    return session.execute(_next(slots), _due(at)).first() is not None


def claim_slices(
    session: Session, *, window: int, at: datetime, slots: frozenset[str] | None = None
) -> list[Work]:
    """Choose slices for the queue of some accounts until these many wait in it.

    The account that was fed longest ago is next. Its accepted renders count as one more batch of it,
    and of its batches the one fed longest ago is next: an account delays another by no more than the
    window, however much it has.
    """
    room = window - _count_in_queue(session, slots)
    claimed: list[Work] = []
    # A claim may be lost to another process at the same moment; then there is one try less.
    for turn in range(max(room, 0)):
        found = session.execute(_next_free(slots), _due(at)).first()
        if found is None:
            break
        # Apart by a microsecond, or the turns of one call would not tell who was last.
        fed_at = at + timedelta(microseconds=turn)
        if _is_turn_of_jobs(session, found):
            claimed.append(_add_job_slice(session, found.account_id, fed_at))
        else:
            _note_turn(session, found.account_id, fed_at=fed_at)
            is_next = batches.c.id == found.batch_id
            session.execute(update(batches).where(is_next).values(fed_at=fed_at))
            claimed += _claim_chunk(session, found.batch_id, at)
    return claimed


def list_in_flight(
    session: Session, *, limit: int, slots: frozenset[str] | None = None
) -> list[Work]:
    """Return the slices of some accounts that stand in the queue or in a worker's hands."""
    columns = batch_chunks.c
    chunks = (
        select(columns.batch_id, columns.number, columns.done)
        .where(IS_IN_FLIGHT, _is_of(slots))
        .order_by(columns.queued_at)
        .limit(limit)
    )
    of_jobs = (
        select(job_slices.c.id)
        .where(lives_in(job_slices.c.account_id, slots))
        .order_by(job_slices.c.queued_at)
        .limit(limit)
    )
    found: list[Work] = [Slice(*row) for row in session.execute(chunks)]
    return found + [JobSlice(slice_id) for slice_id in session.scalars(of_jobs)]


def _due(at: datetime) -> dict[str, datetime]:
    return {"due_at": at + CLOCK_SLACK}


def _is_turn_of_jobs(session: Session, found: Row[Any]) -> bool:
    if found.batch_id is None or not found.has_jobs:
        return bool(found.has_jobs)
    fed_at = session.scalar(select(batches.c.fed_at).where(batches.c.id == found.batch_id))
    return (found.jobs_fed_at or NEVER) <= (fed_at or NEVER)


def _add_job_slice(session: Session, account_id: str, at: datetime) -> JobSlice:
    _note_turn(session, account_id, fed_at=at, jobs_fed_at=at)
    added = JobSlice(new_id("slice"))
    row = {"id": added.id, "account_id": account_id, "is_running": False, "queued_at": at}
    session.execute(insert(job_slices).values(row))
    return added


def _note_turn(session: Session, account_id: str, **times: datetime) -> None:
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
    return int(session.scalar(_in_queue(slots)) or 0)


# Asked for with every slice; to make a statement takes SQLAlchemy longer than to run it.
@lru_cache(maxsize=8)
def _in_queue(slots: frozenset[str] | None) -> Select[Any]:
    chunks = select(func.count()).select_from(batch_chunks).where(_IN_QUEUE, _is_of(slots))
    of_jobs = (
        select(func.count())
        .select_from(job_slices)
        .where(job_slices.c.is_running == false(), lives_in(job_slices.c.account_id, slots))
    )
    return select(chunks.scalar_subquery() + of_jobs.scalar_subquery())


def _is_of(slots: frozenset[str] | None) -> ColumnElement[bool]:
    if slots is None:
        return true()
    batch = select(batches.c.id).where(
        batches.c.id == batch_chunks.c.batch_id, lives_in(batches.c.account_id, slots)
    )
    return batch.exists()


@lru_cache(maxsize=8)
def _next(slots: frozenset[str] | None) -> Select[Any]:
    """Select the account whose turn it is, its next batch, and whether it has accepted renders.

    The accounts are read in the order of an index, and of each the batches in that of another, up to
    the first with a chunk that waits: in two parts, since the two databases sort NULL differently.
    Passed over are only batches whose chunks are all at work.
    """
    columns = batch_turns.c
    batch_id = func.coalesce(
        _first(batches.c.fed_at.is_(None)), _first(batches.c.fed_at.is_not(None))
    )
    has_jobs = _count_due_jobs() > _count_slices_of_jobs()
    return (
        select(
            columns.account_id,
            columns.jobs_fed_at,
            batch_id.label("batch_id"),
            has_jobs.label("has_jobs"),
        )
        .where(or_(batch_id.is_not(None), has_jobs), lives_in(columns.account_id, slots))
        .order_by(columns.fed_at, columns.created_at)
        .limit(1)
    )


@lru_cache(maxsize=8)
def _next_free(slots: frozenset[str] | None) -> Select[Any]:
    """Select and lock the next account that nobody else claims for at this moment.

    Who claims locks one account after the other, in an order that changes: if it waited for another
    claimer, that one could wait for it. The lock leaves room for `keep_turns`.
    """
    return _next(slots).with_for_update(of=batch_turns, skip_locked=True, key_share=True)


def _first(fed: ColumnElement[bool]) -> ScalarSelect[str]:
    has_more = (
        select(batch_chunks.c.number)
        .where(batch_chunks.c.batch_id == batches.c.id, IS_OPEN, _WAITS)
        .exists()
    )
    return (
        select(batches.c.id)
        .where(batches.c.account_id == batch_turns.c.account_id, IS_UNFINISHED, fed, has_more)
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
