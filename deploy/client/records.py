"""What calls take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict

Output = Literal["files", "zip", "merged"]


@dataclass(frozen=True, slots=True)
class Document:
    """A body to render: its bytes and their type, one of the content types of interface.md."""

    body: bytes
    content_type: str

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Document:
        """Read a file; its type is that of its suffix: .xml, .json, .csv or .md.

        Raises:
            ValueError: the suffix is another one.
        """
        types = {
            ".xml": "application/xml",
            ".json": "application/json",
            ".csv": "text/csv",
            ".md": "text/markdown",
        }
        suffix = Path(path).suffix.lower()
        if suffix not in types:
            raise ValueError(f"{path}: a document is one of {', '.join(types)}")
        return cls(Path(path).read_bytes(), types[suffix])


class RenderOptions(TypedDict, total=False):
    """What a render is told beside its document, each by name and none by need.

    `data` is merged into `template` and stands in place of a document; `flow` is the flow that a
    Markdown document replaces; `idempotency_key` is a new one unless it is given.
    """

    data: Mapping[str, Any] | None
    template: str | None
    flow: str | None
    draft: bool
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A PDF as the farm gave it. `timings` are milliseconds by stage.

    `warning_codes` are those of its warnings, a bounded number; `warning_count` counts all.
    """

    pdf: bytes
    pages: int
    filename: str
    job_id: str
    timings: Mapping[str, float] = field(default_factory=dict)
    warning_count: int = 0
    warning_codes: Sequence[str] = ()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the PDF to a file and give its path."""
        target = Path(path)
        target.write_bytes(self.pdf)
        return target


@dataclass(frozen=True, slots=True)
class Job:
    """The record of a job; `error` is the error body of one that failed.

    Each of the `warnings` has a `code`, the `message` of the first of that code, and a `count`.
    """

    id: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    draft: bool
    created_at: str
    template: str | None = None
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    started_at: str | None = None
    finished_at: str | None = None
    expires_at: str | None = None
    warnings: Sequence[Mapping[str, Any]] = ()

    @property
    def has_ended(self) -> bool:
        """Tell whether nothing more will happen to it."""
        return self.status not in ("queued", "running")


@dataclass(frozen=True, slots=True)
class Batch:
    """The record of a batch; the counts are of documents.

    `error` is the error body of one that ended without the one PDF it was to have.
    """

    id: str
    status: Literal["queued", "running", "finished", "cancelled"]
    total: int
    queued: int
    running: int
    succeeded: int
    failed: int
    pages: int
    created_at: str
    finished_at: str | None = None
    expires_at: str | None = None
    error: Mapping[str, Any] | None = None

    @property
    def has_ended(self) -> bool:
        """Tell whether nothing more will happen to it."""
        return self.status in ("finished", "cancelled")

    @property
    def ended(self) -> int:
        """Give how many of its documents have ended."""
        return self.succeeded + self.failed


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One document of a batch, in the order it was sent; `index` counts from 0.

    Its `warnings` are as those of a `Job`.
    """

    index: int
    job_id: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    warnings: Sequence[Mapping[str, Any]] = ()
