"""A batch, its chunks and its items, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from shared.errors import ErrorBody
from shared.jobs import Meter, PinnedTemplate

_BATCH_ID: Final = re.compile(r"batch_([a-z2-7]{24})\Z")
_ITEM_JOB_ID: Final = re.compile(r"job_([a-z2-7]{24})-(0|[1-9][0-9]{0,8})\Z")


class BatchStatus(StrEnum):
    """How far a batch is."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Tell whether nothing of the batch is begun any more."""
        return self in (BatchStatus.FINISHED, BatchStatus.CANCELLED)


class Output(StrEnum):
    """What a batch gives: each PDF by itself, a zip of them, or all pages in one PDF."""

    FILES = "files"
    ZIP = "zip"
    MERGED = "merged"


class BatchKind(StrEnum):
    """What the documents of a batch are written in."""

    NDJSON = "ndjson"
    CSV = "csv"


class ChunkStatus(StrEnum):
    """How far a chunk is."""

    QUEUED = "queued"  # in the queue once `queued_at` is set, else waiting for its turn
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class ItemStatus(StrEnum):
    """How far one document of a batch is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CsvHead:
    """The first row of a CSV batch: the path of each column, and what stands between cells."""

    columns: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True, slots=True)
class Batch:
    """An accepted batch. `body_key` is None once its body is no longer needed.

    `error` is the error body of one that ended without the result it was to have; `traceparent` is
    the span of the request that it came with, where requests are traced; `removed_at` is when its
    client removed it.
    """

    id: str
    account_id: str
    workspace_id: str | None
    user_id: str
    request_id: str
    status: BatchStatus
    output: Output
    kind: BatchKind
    head: CsvHead | None
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

    def is_expired(self, at: datetime) -> bool:
        """Tell whether its PDFs are gone."""
        return self.expires_at is not None and self.expires_at <= at


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a batch's documents; `done` of them, in `done_bytes` of its bytes, have ended."""

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
        """Give the index of its first document that has not ended."""
        return self.first_index + self.done

    @property
    def is_done(self) -> bool:
        """Tell whether all its documents have ended."""
        return self.done >= self.count


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents of a batch are how far, and the pages of those that succeeded."""

    queued: int
    running: int
    succeeded: int
    failed: int
    pages: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where the PDF of an item lies in the part of its slice."""

    offset: int
    length: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How one document ended. `place` is None in a merged batch, and where there is no PDF."""

    index: int
    pages: int = 0
    filename: str | None = None
    error: ErrorBody | None = None
    place: Place | None = None
    warnings: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a batch as it is told: ended or not. `error` is the error body."""

    index: int
    status: ItemStatus
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    filename: str | None = None
    finished_at: datetime | None = None
    part_key: str | None = None
    place: Place | None = None
    warnings: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """What a worker is asked to do: the chunk from the document on where it stands."""

    batch_id: str
    number: int
    done: int

    @property
    def name(self) -> str:
        """Name it, the same for the same."""
        return f"{self.batch_id}:{self.number}:{self.done}"

    def encode(self) -> Mapping[str, Any]:
        """Write it for a message."""
        return {"v": 1, "batch": self.batch_id, "chunk": self.number, "done": self.done}

    @classmethod
    def decode(cls, raw: Mapping[str, Any]) -> Slice:
        """Read it from a message.

        Raises:
            ValueError: the message is of another version.
        """
        if raw.get("v") != 1:
            raise ValueError("message of another version")
        return cls(str(raw["batch"]), int(raw["chunk"]), int(raw["done"]))


@dataclass(frozen=True, slots=True)
class JobSlice:
    """A request to a worker: render some accepted renders of one account."""

    id: str

    @property
    def name(self) -> str:
        """Return the name of its message."""
        return self.id

    def encode(self) -> Mapping[str, Any]:
        """Write it for a message."""
        return {"v": 1, "slice": self.id}

    @classmethod
    def decode(cls, raw: Mapping[str, Any]) -> JobSlice:
        """Read it from a message.

        Raises:
            ValueError: the message is of another version.
        """
        if raw.get("v") != 1:
            raise ValueError("message of another version")
        return cls(str(raw["slice"]))


def item_job_id(batch_id: str, index: int) -> str:
    """Give the job id of a document: it is metered and read under it."""
    found = _BATCH_ID.match(batch_id)
    assert found is not None, "only ids made by `new_id('batch')` are given"
    return f"job_{found[1]}-{index}"


def find_item_of_job(job_id: str) -> tuple[str, int] | None:
    """Give the batch and the index that a job id names, None when it is no document of a batch."""
    found = _ITEM_JOB_ID.match(job_id)
    return None if found is None else (f"batch_{found[1]}", int(found[2]))


def is_batch_id(text: str) -> bool:
    """Tell whether a text could be the id of a batch at all."""
    return _BATCH_ID.match(text) is not None
