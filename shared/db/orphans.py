"""Finds orphans: template content and blobs that no record refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from sqlalchemy import delete, exists, select

from shared.db.session import Session
from shared.db.tables import batches, contents, jobs, templates, version_links, versions

_UNFINISHED = ("queued", "running")
_IS_UNREFERENCED = tuple(
    ~exists().where(table.c.sha256 == contents.c.sha256)
    for table in (templates, versions, version_links)
)


@dataclass(frozen=True, slots=True)
class JobBlobState:
    """The blobs that a recorded job needs: all of its own while it is open, then its PDF."""

    is_open: bool
    pdf_key: str | None


def find_orphaned_contents(
    session: Session, *, stored_before: datetime, limit: int
) -> Sequence[str]:
    """Return the SHA-256 of content that no template, version or link of a version refers to, stored before an instant."""
    query = (
        select(contents.c.sha256)
        .where(contents.c.created_at < stored_before, *_IS_UNREFERENCED)
        .order_by(contents.c.created_at)
        .limit(limit)
    )
    return session.execute(query).scalars().all()


def delete_orphaned_content(session: Session, sha256: str, *, stored_before: datetime) -> bool:
    """Delete content unless it is referenced again; return whether it was deleted.

    `store_content` renews the time of the row under a lock that this call waits for: it either sees the
    renewal, or the content is stored again afterwards.
    """
    if _is_pinned(session, sha256):
        return False
    removed = session.execute(
        delete(contents).where(
            contents.c.sha256 == sha256, contents.c.created_at < stored_before, *_IS_UNREFERENCED
        )
    )
    return bool(removed.rowcount)


def find_job_blob_states(session: Session, job_ids: Sequence[str]) -> dict[str, JobBlobState]:
    """Return the blob states of those jobs that are recorded, by id."""
    query = select(jobs.c.id, jobs.c.status, jobs.c.pdf_key).where(jobs.c.id.in_(job_ids))
    return {
        job_id: JobBlobState(status in _UNFINISHED, pdf_key)
        for job_id, status, pdf_key in session.execute(query)
    }


def find_batches_on_record(session: Session, batch_ids: Sequence[str]) -> frozenset[str]:
    """Return those batch ids that are recorded."""
    query = select(batches.c.id).where(batches.c.id.in_(batch_ids))
    return frozenset(session.execute(query).scalars())


def _is_pinned(session: Session, sha256: str) -> bool:
    """Return whether a job or batch will render this content, a batch its covers also after its end."""
    waiting = select(jobs.c.id).where(
        jobs.c.status.in_(_UNFINISHED), jobs.c.message.contains(sha256)
    )
    if session.scalar(waiting.limit(1)) is not None:
        return True
    pinned = session.execute(
        select(batches.c.pinned).where(batches.c.status.in_(_UNFINISHED))
    ).scalars()
    covers = session.execute(select(batches.c.cover).where(batches.c.cover.is_not(None))).scalars()
    return any(
        each["sha256"] == sha256 or sha256 in each.get("links", {}).values()
        for each in chain(pinned, covers)
    )
