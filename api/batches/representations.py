"""The JSON representations of documents of batches."""

from __future__ import annotations

from typing import Any

from shared.batches.records import Batch, BatchItem, ItemStatus, item_job_id
from shared.jobs.repository import Job, JobStatus
from shared.zip_files import sanitize_filename


def write_item(batch: Batch, item: BatchItem) -> dict[str, Any]:
    """Return a document as an item of its batch."""
    record: dict[str, Any] = {
        "index": item.index,
        "job_id": item_job_id(batch.id, item.index),
        "status": item.status.value,
    }
    named = {} if item.filename is None else {"filename": sanitize_filename(item.filename)}
    return record | _write_outcome(item) | named


def write_item_job(batch: Batch, item: BatchItem) -> dict[str, Any]:
    """Return a document as a job."""
    has_ended = item.status in (ItemStatus.SUCCEEDED, ItemStatus.FAILED, ItemStatus.CANCELLED)
    return Job(
        id=item_job_id(batch.id, item.index),
        status=JobStatus(item.status),
        draft=batch.is_draft,
        created_at=batch.created_at,
        template=batch.template,
        pages=item.pages,
        error=item.error,
        warnings=item.warnings,
        finished_at=(item.finished_at or batch.finished_at) if has_ended else None,
        expires_at=batch.expires_at if has_ended else None,
    ).show()


def _write_outcome(item: BatchItem) -> dict[str, Any]:
    end = {"pages": item.pages, "error": item.error, "warnings": item.warnings}
    return {name: value for name, value in end.items() if value is not None}
