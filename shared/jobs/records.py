"""Queue messages: the render job and its outcome. Versioned JSON."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from shared import json_text
from shared.errors import ErrorBody, ErrorCode, ErrorKind

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
    INVOICE = "invoice"  # inspected only
    FORM = "form"  # inspected only
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


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim check: the bytes themselves when inline, else the key they are stored under."""

    home: ClaimStorage
    size: int
    data: bytes = b""
    key: str = ""


@dataclass(frozen=True, slots=True)
class PinnedTemplate:
    """A template reference resolved to fixed content, so that a retry renders the same.

    `version` is None for live content. `sha256` is the key of the content table. `links` are the SHA-256 of
    the templates that it extends or imports from, directly or not, by reference as written.
    """

    template_id: str
    version: int | None
    sha256: str
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Meter:
    """The account and billing period that a render is charged to, and its cap.

    `cap` is the page allowance, enforced at commit; None for plans without a limit.
    `period` is the start date of the billing period, `YYYY-MM-DD`. `template_id` is for reports only.
    """

    account_id: str
    period: str
    allowance: Allowance
    cap: int | None
    template_id: str | None = None


class ImageProblem(StrEnum):
    """Why the bytes of a remote image are missing."""

    AWAY = "away"  # its server returned none
    TOO_LARGE = "too_large"  # by itself, or together with the others of the document
    UNFETCHED = "unfetched"  # the fetcher was unavailable or busy


@dataclass(frozen=True, slots=True)
class FetchedImage:
    """The result of fetching an image for a job: its bytes, or the problem.

    A job may request images several times; `round` counts from 1.
    """

    round: int
    claim: Claim | None = None
    problem: ImageProblem | None = None
    text: str = ""


@dataclass(slots=True)  # not frozen: that would cost 2 µs for each; treat it as immutable
class RenderJob:
    """One admitted render, validation, inspection or preview.

    `deadline` is seconds since 1970; after it no request is answered 200. A recorded job has a row in the
    job table, where its end is stored too. `budget_seconds` limits one run where no client waits until the
    deadline; None means the deadline is the limit. `traceparent` is the parent span where tracing is on.
    Where `is_fetched_for`, a waiting front fetches the remote images that a worker reports missing;
    `images` are those fetched so far.
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

    @property
    def round(self) -> int:
        """Return how often images were fetched for the job."""
        return max((image.round for image in self.images.values()), default=0)

    @property
    def claims(self) -> Sequence[Claim]:
        """Return the claims stored for the job until it has ended."""
        return [self.body, *(image.claim for image in self.images.values() if image.claim)]

    @property
    def is_draft(self) -> bool:
        """Whether the PDF has the DRAFT mark and no encryption."""
        return self.meter.allowance is Allowance.DRAFT

    def encode(self) -> str:
        """Write the job as a JSON message."""
        return _encode(self)

    @classmethod
    def decode(cls, text: str) -> RenderJob:
        """Read a job from its JSON message.

        Raises:
            ValueError: the message is of another version.
        """
        raw = _decode_versioned(text)
        template = raw.pop("template")
        return cls(
            **{key: raw[key] for key in ("id", "request_id", "workspace_id", "charset", "flow")},
            admitted_at=raw["admitted_at"],
            deadline=raw["deadline"],
            meter=read_meter(raw["meter"]),
            body_kind=BodyKind(raw["body_kind"]),
            body=_read_claim(raw["body"]),
            template=PinnedTemplate(**template) if template else None,
            purpose=Purpose(raw["purpose"]),
            # Messages of an earlier release lack these.
            lane=Lane(raw.get("lane", Lane.INTERACTIVE)),
            is_recorded=raw.get("is_recorded", False),
            budget_seconds=raw.get("budget_seconds"),
            traceparent=raw.get("traceparent"),
            is_fetched_for=raw.get("is_fetched_for", False),
            images={address: _image(each) for address, each in raw.get("images", {}).items()},
            output=RenderOutput(raw.get("output", RenderOutput.PDF)),
        )


class OutcomeStatus(StrEnum):
    """The final state of a job."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUSPENDED = "suspended"  # not yet: `wanted` are addresses of images that its front fetches


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a job: a PDF and its page count, the findings of a validation as the client receives
    them, the properties of an uploaded file, or an error.

    A preview has findings; if the page exists, `pdf` is its file in whatever format, and `properties`
    describes it.

    Timings are milliseconds by stage; `warnings` has one warning for each code, as records list them.
    `properties` is the result of the inspector for the file's kind.
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
    warnings: Sequence[Mapping[str, Any]] = ()
    properties: Mapping[str, Any] | None = None
    wanted: Sequence[str] = ()
    round: int = 0  # of fetching images that this run of the job knew of

    def encode(self) -> str:
        """Write the outcome as a JSON message."""
        return _encode(self)

    @classmethod
    def decode(cls, text: str | bytes) -> JobOutcome:
        """Read an outcome from its JSON message.

        Raises:
            ValueError: the message is of another version.
        """
        raw = _decode_versioned(text)
        return cls(
            job_id=raw["job_id"],
            status=OutcomeStatus(raw["status"]),
            pages=raw["pages"],
            filename=raw["filename"],
            pdf=_read_claim(raw["pdf"]) if raw["pdf"] else None,
            error=read_error(raw["error"]) if raw["error"] else None,
            timings=raw["timings"],
            findings=raw["findings"],
            started_at=raw.get("started_at"),
            warnings=tuple(raw.get("warnings", ())),
            properties=raw.get("properties"),
            wanted=tuple(raw.get("wanted", ())),
            round=raw.get("round", 0),
        )


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


def _encode(message: RenderJob | JobOutcome) -> str:
    # Not `asdict`, which copies recursively and takes three times as long.
    values = zip(message.__slots__, _GETTERS[type(message)](message), strict=True)
    return json_text.encode({"v": MESSAGE_VERSION, **dict(values)}, default=_plain).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if is_dataclass(value) and not isinstance(value, type):  # as the standard library meets one
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise TypeError(f"not a message value: {type(value).__name__}")


_GETTERS: Final = {kind: attrgetter(*kind.__slots__) for kind in (RenderJob, JobOutcome)}


def _decode_versioned(text: str | bytes) -> dict[str, Any]:
    raw: dict[str, Any] = json_text.decode(text)
    if raw.pop("v", None) != MESSAGE_VERSION:
        raise ValueError("message of another version")
    return raw


def _read_claim(raw: dict[str, Any]) -> Claim:
    return Claim(ClaimStorage(raw["home"]), raw["size"], b64decode(raw["data"]), raw["key"])


def _image(raw: dict[str, Any]) -> FetchedImage:
    claim, problem = raw["claim"], raw["problem"]
    return FetchedImage(
        raw["round"],
        _read_claim(claim) if claim else None,
        ImageProblem(problem) if problem else None,
        raw["text"],
    )


def read_meter(raw: Mapping[str, Any]) -> Meter:
    """Read a meter from its dictionary (`dataclasses.asdict`)."""
    return Meter(
        raw["account_id"],
        raw["period"],
        Allowance(raw["allowance"]),
        raw["cap"],
        raw.get("template_id"),  # messages of an earlier release lack it
    )


def read_error(raw: Mapping[str, Any]) -> ErrorBody:
    """Read an error from its dictionary (`dataclasses.asdict`)."""
    code = raw["code"]
    return ErrorBody(
        status=raw["status"],
        message=raw["message"],
        kind=ErrorKind(raw["kind"]),
        code=ErrorCode(code) if code else None,
        data=raw["data"],
        stack_trace=tuple(raw["stack_trace"]),
    )
