"""Runs: batches with an output plan. Their documents in the order of the plan, their files, and their account."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, BinaryIO, Final

from sqlalchemy import insert, select

from shared import json_text
from shared.batches.plans import IndexFormat, Plan, RunDocument, RunFile, Value
from shared.batches.records import Batch, BatchStatus, ItemStatus, item_job_id
from shared.batches.repository import count_items
from shared.db.session import Session
from shared.db.tables import batch_files, batch_items
from shared.records import SHA256, Record, ShownRecord, doc

INDEX_NUMBER: Final = 0  # of the index among the files of a run
_ROWS_AT_ONCE: Final = 5000
_COLUMNS: Final = (
    "index", "job", "status", "file", "position", "first_page", "pages", "first_sheet", "sheets", "error",
)  # fmt: skip


class ShownFile(ShownRecord, frozen=True):
    """A file of a run as clients see it."""

    number: Annotated[int, doc("From 1, in the order of the plan.", minimum=1)]
    documents: Annotated[int, doc("Documents in it.", minimum=1)]
    pages: Annotated[int, doc("Its pages, blank ones among them.", minimum=1)]
    sheets: Annotated[int, doc("Its sheets of paper.", minimum=1)]
    bytes: Annotated[int, doc("Its size.", minimum=1)]
    sha256: Annotated[str, doc("SHA-256 of the file.", **SHA256)]
    value: Annotated[Value, doc("The value of `split.value` that its documents have.")] = None


class RunAccount(ShownRecord, frozen=True):
    """What became of the documents of a batch: `asked` is the sum of the four below it, at every moment."""

    asked: Annotated[int, doc("Documents of the batch, the sum of the four below.", minimum=0)]
    delivered: Annotated[int, doc("Documents in the result, which has been written.", minimum=0)]
    failed: Annotated[
        int, doc("Documents that failed, or that no result could be made of.", minimum=0)
    ]
    cancelled: Annotated[
        int, doc("Documents that are in no result, because the batch was cancelled.", minimum=0)
    ]
    open: Annotated[
        int, doc("Documents that have not ended, or are not in a result yet.", minimum=0)
    ]
    pages: Annotated[
        int, doc("Pages of the delivered documents, blank ones among them.", minimum=0)
    ]
    sheets: Annotated[int, doc("Sheets of the delivered documents.", minimum=0)]
    files: Annotated[tuple[ShownFile, ...], doc("The files of a batch with a plan.")]


class StoredFile(Record, frozen=True):
    """A file of a run, or its index."""

    number: int
    blob_key: str
    bytes: int
    sha256: str
    documents: int
    pages: int
    sheets: int
    value: Value = None


class RunItem(Record, frozen=True):
    """A document of a run that has ended; `part_first_index` names the part with its pages."""

    index: int
    status: ItemStatus
    pages: int | None
    error: Any
    part_first_index: int
    values: dict[str, Value] | None = None

    def as_document(self) -> RunDocument:
        """Return the document for its arrangement; it has succeeded."""
        return RunDocument(self.index, self.pages or 0, self.values or {})


def list_run_items(session: Session, batch_id: str) -> list[RunItem]:
    """Return all documents of a run that have ended, in the order of the body."""
    columns = batch_items.c
    query = (
        select(
            columns.index, columns.status, columns.pages, columns.error,
            columns.part_first_index, columns["values"],
        )
        .where(columns.batch_id == batch_id)
        .order_by(columns["index"])
    )  # fmt: skip
    rows = session.execute(query.execution_options(yield_per=_ROWS_AT_ONCE)).mappings()
    return [RunItem.of_row(row) for row in rows]


def add_files(session: Session, batch_id: str, files: Sequence[StoredFile]) -> None:
    """Record the files of a run, in the unit of work that finishes it."""
    rows = [{**file.to_builtins(), "batch_id": batch_id} for file in files]
    session.execute(insert(batch_files), rows)


def list_files(session: Session, batch_id: str) -> list[StoredFile]:
    """Return the files of a run in order, its index first; none before its end."""
    query = select(batch_files).where(batch_files.c.batch_id == batch_id)
    rows = session.execute(query.order_by(batch_files.c.number)).mappings()
    return [StoredFile.of_row(row) for row in rows]


def read_account(session: Session, batch: Batch) -> RunAccount:
    """Return the account of a batch, of one moment."""
    counts = count_items(session, batch)
    files = [file for file in list_files(session, batch.id) if file.number != INDEX_NUMBER]
    rendered, failed, cancelled = counts.succeeded, counts.failed, counts.cancelled
    delivered = is_open = 0
    pages = counts.pages
    if batch.plan is None:
        delivered = rendered
    elif batch.status is BatchStatus.FINISHED and batch.error is None:
        delivered = sum(file.documents for file in files)
        pages = sum(file.pages for file in files)
        failed += rendered - delivered
    elif batch.status is BatchStatus.FINISHED:
        failed += rendered
    elif batch.status is BatchStatus.CANCELLED:
        cancelled += rendered
    else:
        is_open = rendered
    return RunAccount(
        asked=batch.total,
        delivered=delivered,
        failed=failed,
        cancelled=cancelled,
        open=counts.queued + counts.running + is_open,
        pages=pages if delivered else 0,
        sheets=sum(file.sheets for file in files) if batch.plan else (pages if delivered else 0),
        files=tuple(ShownFile.of_builtins(file.to_builtins()) for file in files),
    )


def write_index(
    out: BinaryIO, batch: Batch, plan: Plan, files: Sequence[RunFile], others: Sequence[RunItem]
) -> None:
    """Write the index of a run: a row for each document, in order, and then those without a place."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    rows = _rows(batch, plan, files, others)
    if plan.index is IndexFormat.CSV:
        writer = csv.writer(text)
        writer.writerow([*_COLUMNS, *plan.fields])
        writer.writerows(
            [*(row[name] for name in _COLUMNS), *(row["fields"].get(path) for path in plan.fields)]
            for row in rows
        )
    else:
        for row in rows:
            shown = {name: value for name, value in row.items() if value is not None}
            text.write(json_text.encode(shown).decode() + "\n")
    text.detach()


def _rows(
    batch: Batch, plan: Plan, files: Sequence[RunFile], others: Sequence[RunItem]
) -> Iterator[dict[str, Any]]:
    for number, file in enumerate(files, 1):
        page = sheet = 1
        for position, document in enumerate(file.documents, 1):
            sheets = plan.sheets_of(document.pages)
            yield {
                "index": document.index,
                "job": item_job_id(batch.id, document.index),
                "status": "delivered",
                "file": number,
                "position": position,
                "first_page": page,
                "pages": document.pages,
                "first_sheet": sheet,
                "sheets": sheets,
                "error": None,
                "fields": {path: document.values.get(path) for path in plan.fields},
            }
            page += 2 * sheets if plan.duplex else document.pages
            sheet += sheets
    for item in others:
        values = item.values or {}
        yield {
            **dict.fromkeys(_COLUMNS),
            "index": item.index,
            "job": item_job_id(batch.id, item.index),
            "status": item.status.value,
            "error": item.error["message"] if item.error else None,
            "fields": {path: values.get(path) for path in plan.fields},
        }
