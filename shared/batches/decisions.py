"""Decisions on the documents of a run: held ones are released or rejected, delivered ones are reprinted.

A decision is a number that the row of its batch counts. The task that arranged the run writes its files
and its index, and then notes the number (`finish_decisions`); until then maintenance repeats the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from shared.batches.plans import PROOF, Plan, RunFile, find_covered
from shared.batches.records import Batch, BatchStatus, ItemStatus
from shared.batches.repository import cancel_batch, deliver_batch, read_batch
from shared.batches.runs import (
    INDEX_NUMBER,
    PROOF_NUMBER,
    REJECTED,
    StoredFile,
    add_files,
    is_held,
    list_files,
)
from shared.clock import now
from shared.db.queries import find_retention
from shared.db.session import Session
from shared.db.tables import HAS_DECISIONS, batch_files, batch_items, batches
from shared.errors import ServiceError
from shared.records import Record, doc

MAX_DECISIONS: Final = 1000  # of a run
_MAX_INDEXES: Final = 5000  # which fit into the body of a request
_INDEXES_AT_ONCE: Final = 1000
_Index = Annotated[int, msgspec.Meta(ge=0, le=999_999_999)]
_Indexes = Annotated[tuple[_Index, ...], msgspec.Meta(min_length=1, max_length=_MAX_INDEXES)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=999_999_999)]


class HeldDocuments(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which of the held documents are released or rejected: all without a member."""

    documents: Annotated[_Indexes | None, doc("Indexes of documents.")] = None
    reason: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=400)] | None,
        doc(
            "Those of a reason, as the index has it, or of a kind of reasons.",
            examples=["proof", "warning:marks-zone", "condition"],
        ),
    ] = None


class Unit(StrEnum):
    """What a range of a reprint counts."""

    DOCUMENTS = "documents"
    SETS = "sets"
    SHEETS = "sheets"


class Reprint(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which delivered documents are printed again: those of some indexes, or a range."""

    documents: Annotated[_Indexes | None, doc("Indexes of documents.")] = None
    unit: Annotated[
        Unit,
        doc(
            "What first and last are: indexes, numbers of sets in the run, or sheets of a file.",
            default=Unit.DOCUMENTS.value,
        ),
    ] = Unit.DOCUMENTS
    first: Annotated[_Number | None, doc("First of a range.")] = None
    last: Annotated[_Number | None, doc("Last of a range.")] = None
    file: Annotated[_Number | None, doc("The file whose sheets are meant.")] = None
    copy: Annotated[bool, doc("Mark each page as a copy.", default=False)] = False


def decide(
    session: Session, batch_id: str, wanted: HeldDocuments, *, is_release: bool, at: datetime
) -> tuple[Batch, int]:
    """Release or reject held documents, and return the batch as it was and the number of those that changed.

    A proof can be released or rejected before its run has ended. Rejected, the batch is cancelled, and every document
    counts that has been rendered; the caller reports it.

    Raises:
        ServiceError: 409, the batch holds no documents or has not ended, 410 if its documents have expired.
    """
    batch = _lock(session, batch_id)
    plan = _plan_of(batch)
    if not batch.status.is_final:
        return batch, _decide_on_proof(session, batch, plan, wanted, at, is_release=is_release)
    if batch.status is BatchStatus.CANCELLED and not is_release:
        return batch, 0
    _check_deliverable(batch, at)
    condition = is_held(batch)
    columns = batch_items.c
    if wanted.reason is not None:
        of_kind = columns.held.startswith(f"{wanted.reason}:", autoescape=True)
        condition = and_(condition, or_(columns.held == wanted.reason, of_kind))
    release = batch.decisions + 1 if is_release else REJECTED
    changed = _mark(session, condition, wanted.documents, release)
    if changed:
        _count_decision(session, batch, at)
    return batch, changed


def _decide_on_proof(
    session: Session,
    batch: Batch,
    plan: Plan,
    wanted: HeldDocuments,
    at: datetime,
    *,
    is_release: bool,
) -> int:
    if wanted != HeldDocuments(reason=PROOF) or plan.hold.proof is None:
        raise ServiceError(
            409,
            f"The batch has not ended; it is {batch.status}. Until then a proof can be released or rejected, "
            'with {"reason": "proof"}.',
        )
    if batch.is_proof_released:
        return 0
    if not is_release:
        columns = batch_items.c
        condition = and_(columns.batch_id == batch.id, columns.release.is_(None))
        is_rendered = columns.status == ItemStatus.SUCCEEDED
        cancel_batch(session, batch.id, at=at)
        return _mark(session, and_(condition, is_rendered), None, REJECTED)
    session.execute(update(batches).where(batches.c.id == batch.id).values(is_proof_released=True))
    return 1


def order_reprint(session: Session, batch_id: str, wanted: Reprint, *, at: datetime) -> StoredFile:
    """Record a reprint, which the task of the run writes, and return it.

    Raises:
        ServiceError: 400 if it names no delivered documents, 409 or 410 if there are none.
    """
    batch = _lock(session, batch_id)
    plan = _plan_of(batch)
    _check_deliverable(batch, at)
    files = list_files(session, batch.id)
    _check_reprint(session, batch, plan, wanted, files)
    number = min(PROOF_NUMBER, *(file.number for file in files)) - 1
    reprint = StoredFile(number, "", 0, "", 0, 0, 0, request=wanted.to_builtins())
    add_files(session, batch.id, [reprint])
    _count_decision(session, batch, at)
    return reprint


def select_documents(plan: Plan, files: Sequence[RunFile], wanted: Reprint) -> set[int]:
    """Return the indexes of the documents of a reprint; a cover is taken with the document that it stands before."""
    chosen = set(wanted.documents or ())
    if chosen:
        return chosen
    first, last = wanted.first or 0, wanted.last or 0
    number = 0
    for at, file in enumerate(files, 1):
        sheet, covered = 1, set(find_covered(plan, file))
        for each in file.sets:
            number += 1
            for document in each.documents:
                after = sheet + (document.index in covered) + plan.sheets_of(document.pages)
                is_chosen = {
                    Unit.DOCUMENTS: first <= document.index <= last,
                    Unit.SETS: first <= number <= last,
                    Unit.SHEETS: at == wanted.file and sheet <= last and first < after,
                }
                sheet = after
                if is_chosen[wanted.unit]:
                    chosen.add(document.index)
    return chosen


def finish_decisions(session: Session, batch: Batch, files: Sequence[StoredFile]) -> set[str]:
    """Record files written for the decisions on a run, its index among them, and return the keys of those
    that are used: another run of the task may have written the same, or the batch may be deleted.

    The index is that of `batch`; after a newer decision it is left to the next run of the task.
    """
    locked = session.execute(
        update(batches)
        .where(batches.c.id == batch.id, batches.c.removed_at.is_(None), HAS_DECISIONS)
        .values(assembly_tries=0)
        .returning(batches.c.decisions)
    ).first()
    if locked is None:
        return set()
    is_newest = locked.decisions == batch.decisions
    there = {file.number for file in list_files(session, batch.id) if file.blob_key}
    there -= {INDEX_NUMBER} if is_newest else set()
    added = [
        file
        for file in files
        if file.number not in there and (is_newest or file.number != INDEX_NUMBER)
    ]
    columns = batch_files.c
    numbers = [file.number for file in added]
    session.execute(
        delete(batch_files).where(columns.batch_id == batch.id, columns.number.in_(numbers))
    )
    add_files(session, batch.id, added)
    if is_newest:
        give_up_decisions(session, batch)
    if any(number >= INDEX_NUMBER for number in numbers):
        deliver_batch(session, batch, after=max(there, default=-1), at=now())
    return {file.blob_key for file in added}


def give_up_decisions(session: Session, batch: Batch) -> None:
    """Note that there is nothing left to write for the decisions on a run."""
    session.execute(
        update(batches).where(batches.c.id == batch.id).values(arranged=batch.decisions)
    )


def add_proof(session: Session, batch: Batch, proof: StoredFile) -> bool:
    """Record the proof of a run that has not ended, and return whether it is the first one."""
    locked = _lock(session, batch.id)
    there = {file.number for file in list_files(session, batch.id)}
    if locked.status.is_final or PROOF_NUMBER in there:
        return False
    add_files(session, batch.id, [proof])
    return True


def is_proof_due(session: Session, batch: Batch) -> bool:
    """Return whether the documents of a run's proof have ended, and it is not written."""
    wanted = None if batch.plan is None else batch.plan.hold.proof
    if wanted is None or batch.status.is_final:
        return False
    items, files = batch_items.c, batch_files.c
    ended = session.scalar(
        select(func.count()).where(items.batch_id == batch.id, items["index"] < wanted)
    )
    written = select(files.number).where(files.batch_id == batch.id, files.number == PROOF_NUMBER)
    return ended == min(wanted, batch.total) and session.scalar(written) is None


def _lock(session: Session, batch_id: str) -> Batch:
    """Return a batch, whose row no other unit of work changes until the end of this one."""
    columns = batches.c
    row = session.execute(
        update(batches)
        .where(columns.id == batch_id)
        .values(decisions=columns.decisions)
        .returning(*columns)
    )
    return read_batch(row.mappings().one())


def _plan_of(batch: Batch) -> Plan:
    if batch.removed_at is not None:  # since its caller found it: a decision would keep its files
        raise ServiceError(404, f"Batch {batch.id!r} does not exist.")
    if batch.plan is None:
        raise ServiceError(409, "A batch without a plan holds and reprints no documents.")
    return batch.plan


def _check_deliverable(batch: Batch, at: datetime) -> None:
    if not batch.status.is_final:
        raise ServiceError(409, f"The batch has not ended; it is {batch.status}.")
    if batch.status is BatchStatus.CANCELLED:
        raise ServiceError(409, "The batch was cancelled; its documents are in no file.")
    if batch.error is not None:
        raise ServiceError(409, f"There is no file: {batch.error['message']}")
    if batch.is_expired(at):
        raise ServiceError(410, "The documents of this batch have expired.")
    if batch.decisions >= MAX_DECISIONS:
        raise ServiceError(
            409,
            f"The documents of this batch were released, rejected or reprinted {MAX_DECISIONS:,} times, which is "
            "the limit.",
        )


def _mark(
    session: Session, condition: ColumnElement[bool], documents: Sequence[int] | None, release: int
) -> int:
    columns = batch_items.c
    groups: Iterable[Sequence[int] | None] = (None,)
    if documents is not None:
        starts = range(0, len(documents), _INDEXES_AT_ONCE)
        groups = [documents[at : at + _INDEXES_AT_ONCE] for at in starts]
    changed = 0
    for group in groups:
        own = condition if group is None else and_(condition, columns["index"].in_(group))
        changed += session.execute(update(batch_items).where(own).values(release=release)).rowcount
    return changed


def _count_decision(session: Session, batch: Batch, at: datetime) -> None:
    """Count a decision, and keep the documents of its batch as long as after its end."""
    expires_at = at + find_retention(session, batch.account_id, *batch.times)[0]
    session.execute(
        update(batches)
        .where(batches.c.id == batch.id)
        .values(
            decisions=batch.decisions + 1,
            assembly_tries=0,
            assembly_begun_at=None,
            expires_at=expires_at,
            sweep_at=expires_at,
        )
    )


def _check_reprint(
    session: Session, batch: Batch, plan: Plan, wanted: Reprint, files: Sequence[StoredFile]
) -> None:
    if wanted.copy and plan.is_package:
        raise ServiceError(
            400, "Invalid request: copy marks merged files; those of this run are ZIPs."
        )
    if wanted.documents is not None:
        if (wanted.first, wanted.last, wanted.file) != (None, None, None):
            raise ServiceError(400, "Invalid request: documents or a range, not both.")
        starts = range(0, len(wanted.documents), _INDEXES_AT_ONCE)
        for at in starts:
            group = wanted.documents[at : at + _INDEXES_AT_ONCE]
            found = set(session.scalars(_delivered(batch).where(batch_items.c["index"].in_(group))))
            missing = next((index for index in group if index not in found), None)
            if missing is not None:
                raise ServiceError(400, f"Invalid request: document {missing} was not delivered.")
        return
    first, last = wanted.first, wanted.last
    if first is None or last is None or first > last:
        raise ServiceError(
            400,
            "Invalid request: accepted are documents, or first and a last that is not below it.",
        )
    if (wanted.file is not None) != (wanted.unit is Unit.SHEETS):
        raise ServiceError(400, "Invalid request: unit sheets takes a file, other units take none.")
    if wanted.unit is Unit.DOCUMENTS:
        index = batch_items.c["index"]
        if session.scalar(_delivered(batch).where(index.between(first, last)).limit(1)) is None:
            raise ServiceError(
                400, f"Invalid request: no document from {first} to {last} was delivered."
            )
        return
    own = [file for file in files if file.number > INDEX_NUMBER]
    if wanted.unit is Unit.SETS:
        most = sum(file.documents for file in own)
    else:
        most = sum(file.sheets + file.covers for file in own if file.number == wanted.file)
    if first < 1 or last > most:
        of = "the run" if wanted.file is None else f"file {wanted.file}"
        raise ServiceError(
            400, f"Invalid request: {of} has the {wanted.unit} 1 to {most}, not {first} to {last}."
        )


def _delivered(batch: Batch) -> Any:
    """Return the query of the indexes of documents that are in a file, or will be."""
    columns = batch_items.c
    never_held: ColumnElement[bool] = columns.held.is_(None)
    if batch.is_proof_released:
        never_held = or_(never_held, columns.held == PROOF)
    return select(columns["index"]).where(
        columns.batch_id == batch.id,
        columns.status == ItemStatus.SUCCEEDED,
        or_(columns.release > 0, and_(columns.release.is_(None), never_held)),
    )
