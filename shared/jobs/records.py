"""Queue messages: the render job and its outcome. Versioned JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import field
from msgspec.structs import replace

from shared.errors import ErrorBody
from shared.records import Record

MESSAGE_VERSION: Final = 1


class Purpose(StrEnum):
    """The purpose of a job; it determines the queue and whether the job is metered."""

    RENDER = "render"
    VALIDATE = "validate"  # returns findings and no PDF; not metered
    INSPECT = "inspect"  # checks an uploaded file before it is stored; not metered
    PREVIEW = "preview"  # renders one page for an editor; not metered


class Lane(StrEnum):
    """The queue of a render: interactive while its client waits, else batch."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


class BodyKind(StrEnum):
    """The type of a job's body: a document, an uploaded file or a preview."""

    XML = "xml"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    IMAGE = "image"  # inspected only
    FONT = "font"  # inspected only
    INVOICE = "invoice"  # inspected, or shown by a template
    FORM = "form"  # inspected only
    SPREADSHEET = "spreadsheet"  # inspected only
    TEMPLATE = "template"  # inspected only; in UTF-8, whatever its XML declaration says
    PREVIEW = "preview"  # a `shared.previews.records.PreviewRequest`


class RenderOutput(StrEnum):
    """The file that a render answers with."""

    PDF = "pdf"
    INVOICE = "invoice"  # the XML of the document's electronic invoice


class Allowance(StrEnum):
    """The page allowance that a render counts against."""

    PRODUCTION = "production"
    DRAFT = "draft"


class ClaimStorage(StrEnum):
    """The storage of a body or a PDF."""

    INLINE = "inline"
    REDIS = "redis"
    BLOB = "blob"
    MEMORY = "memory"  # a Redis that writes nothing to disk


class Claim(Record, frozen=True):
    """A claim check: the bytes themselves when inline, else the key they are stored under."""

    home: ClaimStorage
    size: int
    data: bytes = b""
    key: str = ""


class PinnedTemplate(Record, frozen=True):
    """A template reference resolved to fixed content, so that a retry renders the same.

    `version` is None for live content. `sha256` is the key of the content table. `links` are the SHA-256 of
    the templates that it extends or imports from, directly or not, by reference as written.
    """

    template_id: str
    version: int | None
    sha256: str
    links: Mapping[str, str] = field(default_factory=dict)


class Meter(Record, frozen=True):
    """The account and billing period that a render is charged to, and its cap.

    `cap` is the page allowance, enforced at commit; None for plans without a limit. So is `max_cpu_seconds`, the
    processor time of the account's production renders and drafts.
    `period` is the start date of the billing period, `YYYY-MM-DD`. `template_id` is for reports only.
    """

    account_id: str
    period: str
    allowance: Allowance
    cap: int | None
    template_id: str | None = None
    max_cpu_seconds: int | None = None


class ImageProblem(StrEnum):
    """Why the bytes of a remote image are missing."""

    AWAY = "away"  # its server returned none
    TOO_LARGE = "too_large"  # by itself, or together with the others of the document
    UNFETCHED = "unfetched"  # the fetcher was unavailable or busy


class FetchedImage(Record, frozen=True):
    """The result of fetching an image for a job: its bytes, or the problem.

    A job may request images several times; `round` counts from 1.
    """

    round: int
    claim: Claim | None = None
    problem: ImageProblem | None = None
    text: str = ""


class RenderJob(Record, frozen=True, tag_field="v", tag=MESSAGE_VERSION):
    """One admitted render, validation, inspection or preview.

    `deadline` is seconds since 1970; after it no request is answered 200. A recorded job has a row in the
    job table, where its end is stored too. `budget_seconds` limits one run where no client waits until the
    deadline; None means the deadline is the limit. `traceparent` is the parent span where tracing is on.
    Where `is_fetched_for`, a waiting front fetches the remote images that a worker reports missing;
    `images` are those fetched so far. `paths` are those of the payload that the job's delivery needs the values of.
    """

    id: str
    request_id: str
    workspace_id: str | None
    meter: Meter
    body_kind: BodyKind
    body: Claim
    charset: str | None
    template: PinnedTemplate | None
    flow: str | None
    admitted_at: float
    deadline: float
    purpose: Purpose = Purpose.RENDER
    lane: Lane = Lane.INTERACTIVE
    is_recorded: bool = False
    budget_seconds: float | None = None
    traceparent: str | None = None
    is_fetched_for: bool = False
    images: Mapping[str, FetchedImage] = field(default_factory=dict)
    output: RenderOutput = RenderOutput.PDF
    paths: tuple[str, ...] = ()

    @property
    def round(self) -> int:
        """Return how often images were fetched for the job."""
        return max((image.round for image in self.images.values()), default=0)

    @property
    def claims(self) -> Sequence[Claim]:
        """Return the claims stored for the job until it has ended."""
        return [self.body, *(image.claim for image in self.images.values() if image.claim)]

    @property
    def is_in_memory(self) -> bool:
        """Whether its body is in memory alone, and so is what is made of it."""
        return self.body.home is ClaimStorage.MEMORY

    @property
    def is_draft(self) -> bool:
        """Whether the PDF has the DRAFT mark and no encryption."""
        return self.meter.allowance is Allowance.DRAFT


class OutcomeStatus(StrEnum):
    """The final state of a job."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"  # closed in Redis, so that no worker sends it
    SUSPENDED = "suspended"  # not yet: `wanted` are addresses of images that its front fetches


class JobOutcome(Record, frozen=True, tag_field="v", tag=MESSAGE_VERSION):
    """The result of a job: a PDF and its page count, the findings of a validation as the client receives
    them, the properties of an uploaded file, or an error.

    A preview has findings; if the page exists, `pdf` is its file in whatever format, and `properties`
    describes it.

    Timings are milliseconds by stage, `cpu_us` is the processor time of a render; `warnings` has one warning for each code, as records list them.
    `properties` is the result of the inspector for the file's kind, `values` are those at the job's paths.
    `sealed` stands for all of these where the body is in memory alone: the outcome, encoded as a reply.
    """

    job_id: str
    status: OutcomeStatus
    pages: int = 0
    filename: str | None = None
    pdf: Claim | None = None
    error: ErrorBody | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    findings: Mapping[str, Any] | None = None
    started_at: float | None = None
    warnings: tuple[Mapping[str, Any], ...] = ()
    properties: Mapping[str, Any] | None = None
    wanted: tuple[str, ...] = ()
    round: int = 0  # of fetching images that this run of the job knew of
    values: Mapping[str, Any] = field(default_factory=dict)
    cpu_us: int = 0
    sealed: Claim | None = None


# JSON text never contains this byte, so the first one terminates it.
_END_OF_JSON: Final = b"\0"


def encode_reply(outcome: JobOutcome) -> bytes:
    """Encode an outcome for its reply list: JSON and, for a small PDF, a zero byte and the PDF.

    Base64 in the JSON would cost 0.3 ms for a PDF of 30 KB.
    """
    if outcome.pdf is None or not outcome.pdf.data:
        return outcome.encode().encode()
    bare = replace(outcome, pdf=replace(outcome.pdf, data=b""))
    return bare.encode().encode() + _END_OF_JSON + outcome.pdf.data


def decode_reply(reply: bytes) -> JobOutcome:
    """Read an outcome that `encode_reply` wrote.

    Raises:
        ValueError: the message is of another version.
    """
    text, _, data = reply.partition(_END_OF_JSON)
    outcome = JobOutcome.decode(text)
    if outcome.pdf is None or not data:
        return outcome
    return replace(outcome, pdf=replace(outcome.pdf, data=data))
