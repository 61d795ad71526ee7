"""Batches, chunks, items and slices as values, and how a batch is split into chunks."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import field

from shared.batches.plans import Plan, Priority, Value
from shared.errors import ErrorBody
from shared.jobs.records import MESSAGE_VERSION, Meter, PinnedTemplate
from shared.records import Record, ShownRecord, Timestamp, doc

_BATCH_ID: Final = re.compile(r"batch_([a-z2-7]{24})\Z")
_ITEM_JOB_ID: Final = re.compile(r"job_([a-z2-7]{24})-(0|[1-9][0-9]{0,8})\Z")


class BatchStatus(StrEnum):
    """The state of a batch."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether no further document of the batch is started."""
        return self in (BatchStatus.FINISHED, BatchStatus.CANCELLED)


class BatchOutput(StrEnum):
    """The result of a batch: separate PDFs, a ZIP archive of them, or one merged PDF."""

    FILES = "files"
    ZIP = "zip"
    MERGED = "merged"


class BatchKind(StrEnum):
    """The format of a batch's documents."""

    NDJSON = "ndjson"
    CSV = "csv"


class ChunkStatus(StrEnum):
    """The state of a chunk."""

    QUEUED = "queued"  # in the queue if `queued_at` is set, else waiting to be scheduled
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class ItemStatus(StrEnum):
    """The state of one document of a batch."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CsvHeader(Record, frozen=True):
    """The header of a CSV batch: the path of each column, and the delimiter."""

    columns: tuple[str, ...]
    delimiter: str


class Batch(Record, frozen=True):
    """An accepted batch. `body_key` is None once its body is deleted.

    `error` is the error body if the result could not be produced; `traceparent` is the span of the
    request where tracing is on; `removed_at` is when the client deleted the batch; `plan_name` is the
    reference of its `plan`, and `cover` the template of the plan's covers. `decisions` counts the releases, rejections and reprints of its documents;
    the files of the last of them are written once `arranged` is as many.
    """

    id: str
    account_id: str
    workspace_id: str | None
    user_id: str
    request_id: str
    status: BatchStatus
    output: BatchOutput
    kind: BatchKind
    head: CsvHeader | None = field(name="header")
    is_draft: bool
    template: str
    pinned: PinnedTemplate
    meter: Meter
    total: int
    body_key: str | None
    body_bytes: int
    created_at: datetime
    result_key: str | None = None
    result_bytes: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    error: Mapping[str, Any] | None = None
    traceparent: str | None = None
    removed_at: datetime | None = None
    plan: Plan | None = None
    plan_name: str | None = None
    cover: PinnedTemplate | None = None
    deliver_to: str | None = None
    send_at: datetime | None = None
    subject: str | None = None
    priority: Priority = Priority.NORMAL
    deadline: datetime | None = None
    is_proof_released: bool = False
    decisions: int = 0
    arranged: int = 0

    @property
    def times(self) -> tuple[int | None, int | None]:
        """The hours of results and the days of records of its plan, see `find_retention`."""
        return (
            (self.plan.keep.result_hours, self.plan.keep.record_days) if self.plan else (None, None)
        )

    @property
    def has_own_pdfs(self) -> bool:
        """Whether each document is a PDF, in place of one of each slice."""
        return self.output is not BatchOutput.MERGED or (
            self.plan is not None and self.plan.is_package
        )

    def is_expired(self, at: datetime) -> bool:
        """Return whether its PDFs have expired at an instant."""
        return self.expires_at is not None and self.expires_at <= at


class Chunk(Record, frozen=True):
    """A range of a batch's documents; `done` documents, `done_bytes` of its bytes, have ended."""

    batch_id: str
    number: int
    first_index: int
    count: int
    body_offset: int
    body_length: int
    done: int = 0
    done_bytes: int = 0
    status: ChunkStatus = ChunkStatus.QUEUED

    @property
    def next_index(self) -> int:
        """The index of the first document that has not ended."""
        return self.first_index + self.done

    @property
    def is_done(self) -> bool:
        """Whether all its documents have ended."""
        return self.done >= self.count


class DocumentCounts(Record, frozen=True):
    """The number of documents of a batch by state, and the pages of those that succeeded.

    The states add up to the total of the batch.
    """

    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int
    pages: int


class ShownBatch(ShownRecord, frozen=True):
    """The record of a batch as clients see it; `error` is an error body."""

    id: str
    status: BatchStatus
    draft: Annotated[bool, doc("Whether its pages have the draft watermark.")]
    template: Annotated[str, doc("The template reference, as requested.")]
    total: Annotated[int, doc("Number of documents, the sum of the five below.", minimum=0)]
    queued: Annotated[int, doc("Queued documents.", minimum=0)]
    running: Annotated[int, doc("Documents being rendered.", minimum=0)]
    succeeded: Annotated[int, doc("Documents that were rendered.", minimum=0)]
    failed: Annotated[int, doc("Documents that failed.", minimum=0)]
    cancelled: Annotated[
        int, doc("Documents that were not rendered, because the batch was cancelled.", minimum=0)
    ]
    pages: Annotated[int, doc("Pages of the rendered documents.", minimum=0)]
    created_at: Annotated[Timestamp, doc("When it was accepted.")]
    forecast_at: Annotated[
        Timestamp | None,
        doc(
            "When its documents are expected to have been rendered, from a twentieth of them on; "
            "merging them follows. In the record of one batch, not in lists."
        ),
    ] = None
    finished_at: Annotated[Timestamp | None, doc("When it ended.")] = None
    expires_at: Annotated[Timestamp | None, doc("When its PDFs are deleted.")] = None
    send_at: Annotated[
        Timestamp | None, doc("The moment before which it is not delivered, as asked for.")
    ] = None
    error: Mapping[str, Any] | None = None
    plan: Annotated[str | None, doc("The output plan of a run, with its version.")] = None
    priority: Priority | None = None
    deadline: Annotated[
        Timestamp | None, doc("The moment at which its documents are to have been rendered.")
    ] = None
    late: Annotated[
        bool | None, doc("Of a batch with a deadline: whether it is missed, or expected to be.")
    ] = None


class PdfLocation(Record, frozen=True):
    """The location of an item's PDF within the blob of its part."""

    offset: int
    length: int
    crc32: int


class DocumentResult(Record, frozen=True):
    """The result of one document. `place` is None in a merged batch, and if there is no PDF; `held` is why
    a plan holds it; `cpu_us` is the processor time of its render.
    """

    index: int
    pages: int = 0
    filename: str | None = None
    error: ErrorBody | None = None
    place: PdfLocation | None = None
    warnings: Sequence[Mapping[str, Any]] = ()
    values: Mapping[str, Value] | None = None
    held: str | None = None
    cpu_us: int = 0


class BatchItem(Record, frozen=True):
    """One document of a batch as clients see it, ended or not. `error` is the error body."""

    index: int
    status: ItemStatus
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    filename: str | None = None
    finished_at: datetime | None = None
    part_key: str | None = None
    place: PdfLocation | None = None
    warnings: Sequence[Mapping[str, Any]] | None = None
    values: Mapping[str, Value] | None = None


class Slice(Record, frozen=True, tag_field="v", tag=MESSAGE_VERSION):
    """A request to a worker: render a chunk from its document `done` on."""

    batch_id: str = field(name="batch")
    number: int = field(name="chunk")
    done: int

    @property
    def name(self) -> str:
        """The deterministic name of its message."""
        return f"{self.batch_id}:{self.number}:{self.done}"


class JobSlice(Record, frozen=True, tag_field="v", tag=MESSAGE_VERSION):
    """A request to a worker: run some of an account's accepted renders."""

    id: str = field(name="slice")

    @property
    def name(self) -> str:
        """The name of its message."""
        return self.id


def item_job_id(batch_id: str, index: int) -> str:
    """Return the job id of a batch document, under which it is metered and retrieved."""
    found = _BATCH_ID.match(batch_id)
    assert found is not None, "only ids made by `new_id('batch')` are accepted"
    return f"job_{found[1]}-{index}"


def find_item_of_job(job_id: str) -> tuple[str, int] | None:
    """Return the batch id and index of a job id, or None if it is not that of a batch document."""
    found = _ITEM_JOB_ID.match(job_id)
    return None if found is None else (f"batch_{found[1]}", int(found[2]))


def is_batch_id(text: str) -> bool:
    """Return whether a text has the form of a batch id."""
    return _BATCH_ID.match(text) is not None


TARGET_CHUNKS: Final = 64
MIN_DOCUMENTS: Final = 10
# A part of a merged batch stores shared resources once: 1,000 invoices in parts of 16 took 16.2 % of
# their total size, in parts of 100 13.9 %.
_MIN_MERGED_DOCUMENTS: Final = 100
# A slice of a chunk ends after two seconds anyway; its overhead is a hundredth of that.
MAX_DOCUMENTS: Final = 500


def split_into_chunks(
    batch_id: str, starts: array[int], *, end: int, output: BatchOutput
) -> Iterator[Chunk]:
    """Yield the chunks of a batch. `starts` has the byte offset of each document, `end` that of the body's end."""
    total = len(starts)
    fewest = _MIN_MERGED_DOCUMENTS if output is BatchOutput.MERGED else MIN_DOCUMENTS
    size = min(max(-(-total // TARGET_CHUNKS), fewest), MAX_DOCUMENTS)
    for number, first in enumerate(range(0, total, size)):
        after = first + size
        stop = starts[after] if after < total else end
        yield Chunk(
            batch_id=batch_id,
            number=number,
            first_index=first,
            count=min(size, total - first),
            body_offset=starts[first],
            body_length=stop - starts[first],
        )
