"""`pressroom job show`: the record of one job of any account."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from api.batches.representations import write_item_job
from deploy.cli.farm import FarmStores, open_farm
from deploy.cli.output import CommandFailed, Result
from shared.batches.records import find_item_of_job
from shared.batches.repository import find_batch, find_item
from shared.clock import timestamp
from shared.db.session import Session
from shared.errors import Unavailable
from shared.jobs.records import RenderJob
from shared.jobs.repository import JobRecord, find_job, write_job


def run_show(arguments: argparse.Namespace) -> Result:
    """Print a job's record, with the fields that only operators see."""
    with open_farm(arguments.data) as farm:
        shown = _find(farm, arguments.job_id)
    if shown is None:
        raise CommandFailed(f"job {arguments.job_id!r} does not exist")
    return shown


def _find(farm: FarmStores, job_id: str) -> dict[str, Any] | None:
    item = find_item_of_job(job_id)
    with farm.database.snapshot() as session:
        if item is not None:
            return _show_item(session, *item)
        record = find_job(session, job_id)
    return None if record is None else _show_job(farm, record)


def _show_item(session: Session, batch_id: str, index: int) -> dict[str, Any] | None:
    batch = find_batch(session, batch_id)
    item = None if batch is None else find_item(session, batch, index)
    if batch is None or item is None:
        return None
    beside = {"account_id": batch.account_id, "batch_id": batch.id, "index": index}
    return {**write_item_job(batch, item), **beside}


def _show_job(farm: FarmStores, record: JobRecord) -> dict[str, Any]:
    job = RenderJob.decode(record.message)
    shown = {
        **write_job(record),
        "account_id": record.account_id,
        "user_id": record.user_id,
        "request_id": job.request_id,
        "lane": record.lane.value,
        "body": {"kind": job.body_kind.value, "bytes": job.body.size},
        "queued_at": timestamp(record.queued_at),
    }
    if job.template is not None:
        shown["pinned"] = {"version": job.template.version, "sha256": job.template.sha256}
    if record.timings is not None:
        shown["milliseconds"] = dict(record.timings)
    if record.pdf_key is not None:
        shown["pdf"] = {"key": record.pdf_key, "bytes": record.pdf_size}
    if not record.status.is_final and farm.job_states is not None:
        with suppress(Unavailable):
            deliveries = farm.job_states.of(record.account_id).count_deliveries(record.id)
            shown |= {"deliveries": deliveries} | ({"status": "running"} if deliveries else {})
    return shown
