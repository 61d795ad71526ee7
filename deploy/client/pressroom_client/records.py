"""What calls take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

_R = TypeVar("_R")

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
    Markdown document replaces; `filename` takes the place of the document's own;
    `idempotency_key` is a new one unless it is given.
    """

    data: Mapping[str, Any] | None
    template: str | None
    flow: str | None
    filename: str | None
    draft: bool
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A PDF as the farm returned it. `timings` are milliseconds by stage.

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


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong in a document; `source` names the element and its place, from 1."""

    message: str
    source: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What `validate` found: a document without errors renders."""

    valid: bool
    errors: Sequence[Finding]
    warnings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Template:
    """The record of a template; `content` where it was read alone. `created_by` is id, name and email."""

    id: str
    name: str
    versions: int
    sha256: str | None = None
    slug: str | None = None
    created_at: str = ""
    created_by: Mapping[str, str] = field(default_factory=dict)
    updated_at: str = ""
    updated_by: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A published version; `content` where it was read alone."""

    version: int
    sha256: str
    message: str = ""
    created_at: str = ""
    created_by: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag and the version that it names."""

    tag: str
    version: int
    updated_at: str | None = None
    updated_by: Mapping[str, str] | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class TagEvent:
    """A change of a tag; `version` is None where it was removed."""

    action: Literal["created", "moved", "removed"]
    version: int | None
    at: str
    by: Mapping[str, str]
    previous_version: int | None = None


@dataclass(frozen=True, slots=True)
class Slug:
    """A slug and the template that it names."""

    slug: str
    template_id: str


@dataclass(frozen=True, slots=True)
class SlugState:
    """Whether a slug is free; `template_id` is the template that has it."""

    slug: str
    available: bool
    template_id: str | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """The record of an image. Sizes are bytes and pixels."""

    name: str
    content_type: str
    bytes: int
    width: int
    height: int
    sha256: str
    created_at: str = ""
    created_by: Mapping[str, str] = field(default_factory=dict)
    updated_at: str = ""
    updated_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImageUsage:
    """The number and size of the files of a workspace."""

    total_bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Font:
    """The record of a font. `faces` are its fonts as the farm describes them, one but in collections."""

    name: str
    format: str
    bytes: int
    sha256: str
    faces: Sequence[Mapping[str, Any]] = ()
    created_at: str = ""
    created_by: Mapping[str, str] = field(default_factory=dict)
    updated_at: str = ""
    updated_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FontUsage:
    """The number and size of the files of a workspace."""

    total_bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is sent events; `secret` where it was created or rotated alone."""

    id: str
    url: str
    events: Sequence[str]
    created_at: str
    disabled_at: str | None = None
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to a webhook, with every attempt: `at`, `milliseconds`, `status` or `error`."""

    id: str
    event: str
    status: Literal["pending", "delivered", "failed"]
    created_at: str
    attempts: Sequence[Mapping[str, Any]]
    next_attempt_at: str | None = None


def read_record(
    kind: type[_R], answer: Mapping[str, Any], told: Mapping[str, str] | None = None
) -> _R:
    """Read a record, with the ETag of its answer; fields that a newer farm adds are left out."""
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type] # a dataclass of this module
    values = {name: value for name, value in answer.items() if name in known}
    if "etag" in known and told is not None:
        values["etag"] = told.get("ETag")
    return kind(**values)
