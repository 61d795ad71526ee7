"""The body of a preview job, as it is sent to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import field

from shared.jobs.records import BodyKind
from shared.records import Record

DEFAULT_SCALE: Final = 96 / 72  # pixels per point
MIN_SCALE: Final = 0.1
MAX_SCALE: Final = 8.0
MAX_PAGE: Final = 1_000_000


SESSION_PATTERN: Final = "^[A-Za-z0-9_-]{1,64}$"
PAYLOAD_TYPES: Final[Mapping[str, BodyKind]] = {
    "application/json": BodyKind.JSON,
    "text/csv": BodyKind.CSV,
    "text/markdown": BodyKind.MARKDOWN,
}


class PreviewFormat(StrEnum):
    """The format of a previewed page: a lossless image, or a PDF of one page."""

    PNG = "png"
    WEBP = "webp"
    PDF = "pdf"


MEDIA_TYPES: Final = {
    PreviewFormat.PNG: "image/png",
    PreviewFormat.WEBP: "image/webp",
    PreviewFormat.PDF: "application/pdf",
}


class PreviewData(Record, frozen=True):
    """The data of a preview, in the same format as the body of a render."""

    kind: BodyKind
    text: str
    flow: str | None = None


class PreviewRequest(Record, frozen=True):
    """A request for one page of a document. `template` is None where the job refers to a stored one.

    `page` counts from 1; `scale` is pixels per point. `links` are those of `template`, as of a
    `PinnedTemplate`.
    """

    template: str | None
    data: PreviewData | None
    page: int = 1
    scale: float = DEFAULT_SCALE
    format: PreviewFormat = PreviewFormat.PNG
    links: Mapping[str, str] = field(default_factory=dict)
