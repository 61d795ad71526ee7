"""Runs: batches with an output plan. Their documents in the order of the plan, their files, and their account."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Annotated, Any, BinaryIO, Final
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from sqlalchemy import ColumnElement, and_, func, insert, select, update

from shared import json_text
from shared.batches.plans import (
    PROOF,
    RESOURCES,
    Hold,
    IndexFormat,
    Plan,
    RunDocument,
    RunFile,
    Value,
    arrange,
    find_covered,
    find_held_sets,
)
from shared.batches.records import Batch, BatchOutput, BatchStatus, ItemStatus, item_job_id
from shared.batches.repository import count_items
from shared.db.session import Session
from shared.db.tables import batch_files, batch_items, webhook_deliveries
from shared.records import SHA256, Record, ShownRecord, doc
from shared.zip_files import name_entry

INDEX_NUMBER: Final = 0  # of the index among the files of a run
PROOF_NUMBER: Final = -1  # of the proof; those below are reprints
REJECTED: Final = -1  # in place of a release
_ROWS_AT_ONCE: Final = 5000
_COLUMNS: Final = (
    "index", "job", "status", "file", "position", "first_page", "pages", "first_sheet", "sheets", "error",
    "set", "reason",
)  # fmt: skip


class ShownFile(ShownRecord, frozen=True):
    """A file of a run, its proof or a reprint, as clients see it."""

    number: Annotated[
        int,
        doc(
            "From 1, in the order of the plan; then those released. Reprints have numbers of their own, a proof 0.",
            minimum=0,
        ),
    ]
    documents: Annotated[int, doc("Documents in it.", minimum=0)]
    pages: Annotated[int, doc("Its pages, blank ones among them.", minimum=0)]
    sheets: Annotated[int, doc("Its sheets of paper.", minimum=0)]
    covers: Annotated[
        int, doc("Sheets of its covers, which its pages and sheets do not count.", minimum=0)
    ]
    bytes: Annotated[int, doc("Its size; 0 for a reprint that is not written yet.", minimum=0)]
    sha256: Annotated[str | None, doc("SHA-256 of the file, once it is written.", **SHA256)] = None
    value: Annotated[Value, doc("The value of `split.value` that its documents have.")] = None


class DeliveredFiles(ShownRecord, frozen=True):
    """How many files of a batch with `deliver` its destination has, the index or manifest among them."""

    pending: Annotated[int, doc("Files that are attempted, now or later.", minimum=0)]
    delivered: Annotated[int, doc("Files that it has.", minimum=0)]
    undelivered: Annotated[
        int, doc("Files that were given up: see GET /v2/deliveries?status=failed.", minimum=0)
    ]


class RunAccount(ShownRecord, frozen=True):
    """What became of the documents of a batch: `asked` is the sum of the six below it, at every moment."""

    asked: Annotated[int, doc("Documents of the batch, the sum of the six below.", minimum=0)]
    delivered: Annotated[int, doc("Documents in the result, which has been written.", minimum=0)]
    held: Annotated[
        int, doc("Documents that the plan holds: to be released or rejected.", minimum=0)
    ]
    rejected: Annotated[int, doc("Documents that were rejected.", minimum=0)]
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
    covers: Annotated[int, doc("Sheets of covers, which pages and sheets do not count.", minimum=0)]
    files: Annotated[tuple[ShownFile, ...], doc("The files of a batch with a plan.")]
    proof: ShownFile | None = None
    reprints: Annotated[tuple[ShownFile, ...], doc("Its reprints.")] = ()
    deliveries: Annotated[
        DeliveredFiles | None, doc("Of a batch with a destination, of the last 7 days.")
    ] = None


class StoredFile(Record, frozen=True):
    """A file of a run, its index, its proof, or a reprint, whose `request` says of what.

    A reprint has neither blob nor digest until it is written.
    """

    number: int
    blob_key: str
    bytes: int
    sha256: str
    documents: int
    pages: int
    sheets: int
    value: Value = None
    request: Mapping[str, Any] | None = None
    covers: int = 0

    @property
    def covers_key(self) -> str:
        """The key of the covers of a file of the run, from which reprints take them."""
        return f"{self.blob_key}-covers"

    def as_shown(self) -> ShownFile:
        """Return the file as clients see it."""
        number = self.number if self.number > INDEX_NUMBER else PROOF_NUMBER - self.number
        shown = self.to_builtins() | {"number": number, "sha256": self.sha256 or None}
        return ShownFile.of_builtins(shown)


class OwnPdf(Record, frozen=True, gc=False):
    """Where the part of a document has its PDF, and the file name that it has."""

    offset: int
    length: int
    filename: str | None


class RunItem(RunDocument, frozen=True, gc=False):
    """A document of a run that has ended, of no page if it failed; `part_first_index` names the part with its pages."""

    status: ItemStatus
    error: Any
    part_first_index: int
    held: str | None = None
    release: int | None = None
    own: OwnPdf | None = None  # of a run whose files are ZIPs

    @property
    def entry(self) -> str:
        """The name of the PDF of a set that begins with it, in a ZIP."""
        return name_entry(self.index, self.own.filename if self.own else None)

    def find_release(self, batch: Batch) -> int | None:
        """Return the decision that releases it, 0 if it leaves with the run, `REJECTED`, or None if it is held."""
        is_free = self.held is None or (self.held == PROOF and batch.is_proof_released)
        return 0 if is_free and self.release is None else self.release


def list_run_items(session: Session, batch_id: str) -> list[RunItem]:
    """Return all documents of a run that have ended, in the order of the body."""
    columns = batch_items.c
    query = (
        select(
            columns.index, columns.status, columns.pages, columns.error,
            columns.part_first_index, columns["values"], columns.held, columns.release,
            columns.offset, columns.length, columns.filename,
        )
        .where(columns.batch_id == batch_id)
        .order_by(columns["index"])
    )  # fmt: skip
    rows = session.execute(query.execution_options(yield_per=_ROWS_AT_ONCE)).mappings()
    # There may be a hundred thousand, whose names of values are the same few.
    return [
        RunItem.of_row(
            row,
            pages=row["pages"] or 0,
            values={
                intern(path): intern(value) if path == RESOURCES else value
                for path, value in (row["values"] or {}).items()
            },
            own=None if row["offset"] is None else OwnPdf.of_row(row),
        )
        for row in rows
    ]


def arrange_run(batch: Batch, plan: Plan, items: Iterable[RunItem]) -> list[RunFile]:
    """Return the files of a run in the order of their numbers: first those of documents that were never held,
    then those of each release. It is always the same for a file that has been written.

    Raises:
        TooManyFilesError: a release has more files than a run may have.
    """
    reasons = {f"condition:{condition.value}" for condition in plan.set_conditions}
    has_begun = plan.hold.proof is None or batch.is_proof_released
    releases: dict[int, list[RunDocument]] = {}
    for item in items:
        if item.status is not ItemStatus.SUCCEEDED:
            continue
        release = item.find_release(batch)
        # Sets of the run are those that were held too: what stands beside them must not become one.
        if has_begun and item.held in reasons:
            releases.setdefault(0, []).append(item)
        if release is not None and release != REJECTED:
            releases.setdefault(release, []).append(item)
    return [
        file
        for number in sorted(releases)
        for file in arrange(plan, releases[number], with_held=number > 0)
    ]


def hold_sets(plan: Plan, items: Sequence[RunItem]) -> list[RunItem]:
    """Return the documents of a run with the reason of those whose set is held, before it is arranged."""
    if not plan.set_conditions:
        return [*items]
    free = [
        item for item in items if item.status is ItemStatus.SUCCEEDED and item.held in (None, PROOF)
    ]
    held = find_held_sets(plan, free)
    return [item.replace(held=held.get(item.index, item.held)) for item in items]


def record_held(session: Session, batch: Batch, plan: Plan, items: Sequence[RunItem]) -> None:
    """Record the documents whose set is held, in the unit of work that finishes their run."""
    columns = batch_items.c
    for condition in plan.set_conditions:
        reason = f"condition:{condition.value}"
        indexes = [item.index for item in items if item.held == reason]
        for at in range(0, len(indexes), _ROWS_AT_ONCE):
            own = columns["index"].in_(indexes[at : at + _ROWS_AT_ONCE])
            session.execute(
                update(batch_items).where(columns.batch_id == batch.id, own).values(held=reason)
            )


def add_files(session: Session, batch_id: str, files: Sequence[StoredFile]) -> None:
    """Record the files of a run, in the unit of work that finishes it."""
    rows = [{**file.to_builtins(), "batch_id": batch_id} for file in files]
    session.execute(insert(batch_files), rows)


def list_files(session: Session, batch_id: str) -> list[StoredFile]:
    """Return the files of a run in order, after its reprints, its proof, and its index."""
    query = select(batch_files).where(batch_files.c.batch_id == batch_id)
    rows = session.execute(query.order_by(batch_files.c.number)).mappings()
    return [StoredFile.of_row(row) for row in rows]


def read_account(session: Session, batch: Batch) -> RunAccount:
    """Return the account of a batch, of one moment."""
    counts = count_items(session, batch)
    stored = list_files(session, batch.id)
    files = [file for file in stored if file.number > INDEX_NUMBER]
    rendered, failed, cancelled = counts.succeeded, counts.failed, counts.cancelled
    held, rejected = _count_held(session, batch)
    delivered = is_open = 0
    left = rendered - held - rejected
    pages = counts.pages
    if batch.output is not BatchOutput.MERGED:
        delivered = rendered
    elif batch.status is BatchStatus.FINISHED and batch.error is None:
        delivered = sum(file.documents for file in files) if batch.plan else rendered
        pages = sum(file.pages for file in files) if batch.plan else pages
        if batch.decisions > batch.arranged:
            is_open = left - delivered
        else:
            failed += left - delivered
    elif batch.status is BatchStatus.FINISHED:
        held, failed = 0, failed + rendered - rejected
    elif batch.status is BatchStatus.CANCELLED:
        held, cancelled = 0, cancelled + rendered - rejected
    else:
        is_open = left
    proof = next((file for file in stored if file.number == PROOF_NUMBER), None)
    return RunAccount(
        asked=batch.total,
        delivered=delivered,
        held=held,
        rejected=rejected,
        failed=failed,
        cancelled=cancelled,
        open=counts.queued + counts.running + is_open,
        pages=pages if delivered else 0,
        sheets=sum(file.sheets for file in files) if batch.plan else (pages if delivered else 0),
        covers=sum(file.covers for file in files),
        files=tuple(file.as_shown() for file in files),
        proof=None if proof is None else proof.as_shown(),
        reprints=tuple(file.as_shown() for file in reversed(stored) if file.request is not None),
        deliveries=_count_deliveries(session, batch) if batch.deliver_to else None,
    )


def _count_deliveries(session: Session, batch: Batch) -> DeliveredFiles:
    columns = webhook_deliveries.c
    query = select(columns.status, func.count()).where(
        columns.source_id == batch.id, columns.name.is_not(None)
    )
    rows = session.execute(query.group_by(columns.status)).all()
    counts: dict[str, int] = {row[0]: row[1] for row in rows}
    return DeliveredFiles(
        counts.get("pending", 0), counts.get("delivered", 0), counts.get("failed", 0)
    )


def is_held(batch: Batch) -> ColumnElement[bool]:
    """Return the condition of the documents of a batch that are held."""
    columns = batch_items.c
    held = and_(columns.batch_id == batch.id, columns.held.is_not(None), columns.release.is_(None))
    return and_(held, columns.held != PROOF) if batch.is_proof_released else held


def _count_held(session: Session, batch: Batch) -> tuple[int, int]:
    """Count the documents that are held, and those that were rejected."""
    if batch.plan is None or batch.plan.hold == Hold():
        return 0, 0
    counts = [
        select(func.count()).select_from(batch_items).where(condition)
        for condition in (
            is_held(batch),
            and_(batch_items.c.batch_id == batch.id, batch_items.c.release == REJECTED),
        )
    ]
    held, rejected = (int(session.scalar(count) or 0) for count in counts)
    return held, rejected


def write_index(
    out: BinaryIO,
    batch: Batch,
    plan: Plan,
    files: Sequence[RunFile],
    items: Sequence[RunItem],
    *,
    first_file: int = 1,
    sets_before: int = 0,
) -> None:
    """Write the index of a run, or of files of it: a row for each document, in order, and then those of the
    items that are in no file.
    """
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    rows = _rows(batch, plan, enumerate(files, first_file), items, sets_before)
    if plan.index is IndexFormat.CSV:
        writer = csv.writer(text)
        columns = (
            *_COLUMNS,
            *map(_name_column, plan.set_paths),
            *(["bundle"] if plan.bundle else ()),
            *(["name"] if plan.is_package else ()),
        )
        named = (f"fields.{path}" if path in columns else path for path in plan.fields)
        writer.writerow([*columns, *named])
        writer.writerows(
            [*map(row.get, columns), *(row["fields"].get(path) for path in plan.fields)]
            for row in rows
        )
    elif plan.index is IndexFormat.XML:
        _write_xml(text, batch, rows)
    else:
        for row in rows:
            shown = {name: value for name, value in row.items() if value is not None}
            text.write(json_text.encode(shown).decode() + "\n")
    text.detach()


# What XML 1.0 (2.2) has no place for, however written.
_NOT_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _write_xml(text: io.TextIOWrapper, batch: Batch, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as elements whose attributes are columns; characters that XML does not have are left out."""

    def show(value: Any) -> str:
        return _NOT_XML.sub(
            "", value if isinstance(value, str) else json_text.encode(value).decode()
        )

    document = XMLGenerator(text, "utf-8", short_empty_elements=True)
    document.startDocument()
    document.startElement("index", AttributesImpl({"batch": batch.id}))
    for row in rows:
        fields = row["fields"]
        columns = (each for each in row.items() if each[1] is not None and each[0] != "fields")
        shown = AttributesImpl({name: show(value) for name, value in columns})
        document.startElement("document", shown)
        for path, value in fields.items():
            if value is not None:
                document.startElement("field", AttributesImpl({"path": path}))
                document.characters(show(value))
                document.endElement("field")
        document.endElement("document")
    document.endElement("index")


def _rows(
    batch: Batch,
    plan: Plan,
    files: Iterable[tuple[int, RunFile]],
    items: Sequence[RunItem],
    number_in_run: int,
) -> Iterator[dict[str, Any]]:
    others = {item.index: item for item in items}
    for number, file in files:
        page = sheet = 1
        name = None
        bundle, covered = 0, set(find_covered(plan, file))
        of_sets = [(each, document) for each in file.sets for document in each.documents]
        for position, (each, document) in enumerate(of_sets, 1):
            sheets = plan.sheets_of(document.pages)
            if document is each.documents[0]:
                number_in_run += 1
                page, sheet = (1, 1) if plan.is_package else (page, sheet)
                name = others[document.index].entry if plan.is_package else None
            if document.index in covered:
                bundle += 1
                page += plan.sides_of(1)
                sheet += 1
            yield {
                **_row(batch, plan, others.pop(document.index)),
                "status": "delivered",
                "file": number,
                "position": position,
                "first_page": page,
                "pages": document.pages,
                "first_sheet": sheet,
                "sheets": sheets,
                "set": number_in_run,
                "bundle": bundle or None,
                "name": name,
                **{_name_column(path): value for path, value in each.values.items()},
            }
            page += plan.sides_of(document.pages)
            sheet += sheets
    for item in others.values():
        yield _row(batch, plan, item)


def _name_column(path: str) -> str:
    return path.removeprefix("set.")


def _row(batch: Batch, plan: Plan, item: RunItem) -> dict[str, Any]:
    status = item.status.value
    if item.status is ItemStatus.SUCCEEDED:
        status = "rejected" if item.release == REJECTED else "held"
    return {
        **dict.fromkeys(_COLUMNS),
        "index": item.index,
        "job": item_job_id(batch.id, item.index),
        "status": status,
        "error": item.error["message"] if item.error else None,
        "reason": item.held,
        "fields": {path: item.values.get(path) for path in plan.fields},
    }
