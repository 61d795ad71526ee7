"""What nothing names any more: texts of templates, and bytes in the blob store (hazards.md 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, exists, select

from shared.db.session import Session
from shared.db.tables import (
    batches,
    contents,
    jobs,
    templates,
    versions,
)

_UNFINISHED = ("queued", "running")


@dataclass(frozen=True, slots=True)
class JobBytes:
    """What a job on record needs: everything of its own while it is open, then its PDF."""

    is_open: bool
    pdf_key: str | None


def find_unneeded_contents(session: Session, *, kept_before: datetime, limit: int) -> Sequence[str]:
    """Give texts, by SHA-256, that no template and no version has and that nobody kept since then."""
    query = (
        select(contents.c.sha256)
        .where(
            contents.c.created_at < kept_before,
            ~exists().where(templates.c.sha256 == contents.c.sha256),
            ~exists().where(versions.c.sha256 == contents.c.sha256),
        )
        .order_by(contents.c.created_at)
        .limit(limit)
    )
    return session.execute(query).scalars().all()


def remove_content(session: Session, sha256: str, *, kept_before: datetime) -> bool:
    """Remove a text unless somebody needs it after all; tell whether it is gone.

    Whoever keeps the text in the meantime sets its time anew, in the row that this one waits for:
    it is either seen to be kept, or kept again after.
    """
    if _is_pinned(session, sha256):
        return False
    removed = session.execute(
        delete(contents).where(
            contents.c.sha256 == sha256,
            contents.c.created_at < kept_before,
            ~exists().where(templates.c.sha256 == contents.c.sha256),
            ~exists().where(versions.c.sha256 == contents.c.sha256),
        )
    )
    return bool(removed.rowcount)


def find_job_bytes(session: Session, job_ids: Sequence[str]) -> dict[str, JobBytes]:
    """Give what those of some jobs need that are on record, by id."""
    query = select(jobs.c.id, jobs.c.status, jobs.c.pdf_key).where(jobs.c.id.in_(job_ids))
    return {
        job_id: JobBytes(status in _UNFINISHED, pdf_key)
        for job_id, status, pdf_key in session.execute(query)
    }


def find_batches_on_record(session: Session, batch_ids: Sequence[str]) -> frozenset[str]:
    """Give those of some batches that are on record."""
    query = select(batches.c.id).where(batches.c.id.in_(batch_ids))
    return frozenset(session.execute(query).scalars())


def _is_pinned(session: Session, sha256: str) -> bool:
    """Tell whether work that was accepted and has not ended will render this text."""
    waiting = select(jobs.c.id).where(
        jobs.c.status.in_(_UNFINISHED), jobs.c.message.contains(sha256)
    )
    if session.scalar(waiting.limit(1)) is not None:
        return True
    pinned = session.execute(
        select(batches.c.pinned).where(batches.c.status.in_(_UNFINISHED))
    ).scalars()
    return any(each["sha256"] == sha256 for each in pinned)
