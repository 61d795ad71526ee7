"""The body of a preview job, as it is sent to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

import msgspec
from msgspec import field

from shared.jobs.records import BodyKind
from shared.records import Record, doc

DEFAULT_SCALE: Final = 96 / 72  # pixels per point
MIN_SCALE: Final = 0.1
MAX_SCALE: Final = 8.0
MAX_PAGE: Final = 1_000_000


SESSION_PATTERN: Final = r"^[A-Za-z0-9_-]{1,64}$"
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


class PreviewBody(Record, frozen=True, forbid_unknown_fields=True):
    """The body of a request; a field that is null is missing."""

    template: Annotated[
        Annotated[str, msgspec.Meta(min_length=1)],
        doc(
            "The text of a template, or a reference to a stored one. A value with `<` is text.",
            examples=["service-invoice"],
        ),
    ]
    payload: msgspec.Raw = field(default_factory=msgspec.Raw)
    payload_type: Annotated[
        Literal["application/json", "text/csv", "text/markdown"],
        doc("Type of a string payload; default is application/json."),
    ] = "application/json"
    flow: Annotated[
        Annotated[str, msgspec.Meta(min_length=1)] | None,
        doc("With text/markdown only: the flow that payload replaces; default is body."),
    ] = None
    page: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)] | None,
        doc("Page number; default is 1; a number beyond the last page draws the last."),
    ] = None
    scale: Annotated[
        Annotated[float, msgspec.Meta(ge=MIN_SCALE, le=MAX_SCALE)] | None,
        doc(
            "Pixels per point; default is 96 dpi. It is reduced for a page of more than 16 million pixels."
        ),
    ] = None
    format: PreviewFormat | None = None
    session: Annotated[
        Annotated[str, msgspec.Meta(pattern=SESSION_PATTERN)] | None,
        doc(
            "Id of the editing session, such as a tab: a newer preview of the session replaces this one."
        ),
    ] = None


class PreviewData(Record, frozen=True):
    """The data of a preview: a JSON object as it was sent, or a string of JSON, CSV or Markdown."""

    kind: BodyKind
    sent: msgspec.Raw = field(name="text")
    flow: str | None = None

    @property
    def body(self) -> bytes:
        """The data as the body of a render."""
        sent = bytes(self.sent)
        return msgspec.json.decode(sent, type=str).encode() if sent.startswith(b'"') else sent


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
