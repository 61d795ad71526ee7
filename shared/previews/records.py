"""The body of a preview job, as it is sent to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from shared import json_text
from shared.jobs.records import BodyKind

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


@dataclass(frozen=True, slots=True)
class PreviewData:
    """The data of a preview, in the same format as the body of a render."""

    kind: BodyKind
    text: str
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class PreviewRequest:
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

    def encode(self) -> bytes:
        """Encode the request as JSON."""
        data = self.data
        return json_text.encode(
            {
                "template": self.template,
                "data": None if data is None else [data.kind.value, data.text, data.flow],
                "page": self.page,
                "scale": self.scale,
                "format": self.format.value,
                "links": dict(self.links),
            }
        )

    @classmethod
    def decode(cls, text: bytes) -> PreviewRequest:
        """Read a request that `encode` wrote.

        Raises:
            ValueError: the text is not JSON.
            KeyError: a field is missing.
        """
        raw: dict[str, Any] = json_text.decode(text)
        data = raw["data"]
        return cls(
            template=raw["template"],
            data=None if data is None else PreviewData(BodyKind(data[0]), data[1], data[2]),
            page=raw["page"],
            scale=raw["scale"],
            format=PreviewFormat(raw["format"]),
            links=raw.get("links", {}),
        )
