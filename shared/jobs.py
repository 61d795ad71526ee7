"""The messages that cross the queue: a render job and its outcome. Versioned, JSON only."""

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
    """What a job is for, and so which queue it waits in and whether it is metered."""

    RENDER = "render"
    VALIDATE = "validate"  # finds problems, gives no PDF, counts nothing
    INSPECT = "inspect"  # checks an uploaded file before it is stored, counts nothing


class Lane(StrEnum):
    """Which queue a render waits in: somebody waits for it, or nobody does."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


class BodyKind(StrEnum):
    """The type of a job's body: a document (interface.md, Content types) or an uploaded file."""

    XML = "xml"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    IMAGE = "image"  # inspected only
    FONT = "font"  # inspected only


class Allowance(StrEnum):
    """Which allowance a render counts against."""

    PRODUCTION = "production"
    DRAFT = "draft"


class ClaimHome(StrEnum):
    """Where the bytes of a body or a PDF lie (design.md 1, claim check)."""

    INLINE = "inline"
    REDIS = "redis"
    BLOB = "blob"


@dataclass(frozen=True, slots=True)
class Claim:
    """A ticket for bytes: the bytes themselves when inline, a key otherwise."""

    home: ClaimHome
    size: int
    data: bytes = b""
    key: str = ""


@dataclass(frozen=True, slots=True)
class PinnedTemplate:
    """A template reference resolved to one text: a retry renders the same (design.md, pin).

    `version` is None for live content. `sha256` names the content in the content table.
    """

    template_id: str
    version: int | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Meter:
    """What the commit of a render counts against: account, period and cap.

    `cap` is the page allowance, enforced at commit; None for plans that are never refused.
    `period` is the start date of the billing period, `YYYY-MM-DD`.
    """

    account_id: str
    period: str
    allowance: Allowance
    cap: int | None


@dataclass(slots=True)  # not frozen, which takes 2 µs more to make one; nothing changes it
class RenderJob:
    """One admitted render, validation or inspection.

    `deadline` is seconds since 1970; nothing is answered 200 after it.
    A recorded job stands in the job table, which is told of its end too. `budget_seconds` bounds
    one run of a job whose deadline is no answer's; None: the deadline does. `traceparent` is the
    span that waits for it, where requests are traced.
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

    @property
    def is_draft(self) -> bool:
        """Return whether the PDF carries the DRAFT mark and no security."""
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
        raw = _checked(text)
        template = raw.pop("template")
        return cls(
            **{key: raw[key] for key in ("id", "request_id", "workspace_id", "charset", "flow")},
            admitted_at=raw["admitted_at"],
            deadline=raw["deadline"],
            meter=read_meter(raw["meter"]),
            body_kind=BodyKind(raw["body_kind"]),
            body=_claim(raw["body"]),
            template=PinnedTemplate(**template) if template else None,
            purpose=Purpose(raw["purpose"]),
            # An earlier release's message, still in the queue, has none of these.
            lane=Lane(raw.get("lane", Lane.INTERACTIVE)),
            is_recorded=raw.get("is_recorded", False),
            budget_seconds=raw.get("budget_seconds"),
            traceparent=raw.get("traceparent"),
        )


class OutcomeStatus(StrEnum):
    """How a job ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What a worker found: a PDF and its page count, or the findings of a validation as the client
    gets them, or the properties of an uploaded file, or an error body.

    Timings are milliseconds by stage; `warnings` are those of a render as records list them, one
    for each code. `properties` are those that the inspector of the file's kind returns.
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

    def encode(self) -> str:
        """Write the outcome as a JSON message."""
        return _encode(self)

    @classmethod
    def decode(cls, text: str | bytes) -> JobOutcome:
        """Read an outcome from its JSON message.

        Raises:
            ValueError: the message is of another version.
        """
        raw = _checked(text)
        return cls(
            job_id=raw["job_id"],
            status=OutcomeStatus(raw["status"]),
            pages=raw["pages"],
            filename=raw["filename"],
            pdf=_claim(raw["pdf"]) if raw["pdf"] else None,
            error=read_error(raw["error"]) if raw["error"] else None,
            timings=raw["timings"],
            findings=raw["findings"],
            started_at=raw.get("started_at"),
            warnings=tuple(raw.get("warnings", ())),
            properties=raw.get("properties"),
        )


# No JSON text has this byte, so the first one ends it.
_END_OF_JSON: Final = b"\0"


def encode_reply(outcome: JobOutcome) -> bytes:
    """Write an outcome for its reply list: its JSON and, of a small PDF, a zero byte and the bytes.

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
    # Not `asdict`, which copies all the way down and takes three times as long.
    values = zip(message.__slots__, _GETTERS[type(message)](message), strict=True)
    return json_text.encode({"v": MESSAGE_VERSION, **dict(values)}, default=_plain).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if is_dataclass(value) and not isinstance(value, type):  # as the standard library meets one
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise TypeError(f"not a message value: {type(value).__name__}")


_GETTERS: Final = {kind: attrgetter(*kind.__slots__) for kind in (RenderJob, JobOutcome)}


def _checked(text: str | bytes) -> dict[str, Any]:
    raw: dict[str, Any] = json_text.decode(text)
    if raw.pop("v", None) != MESSAGE_VERSION:
        raise ValueError("message of another version")
    return raw


def _claim(raw: dict[str, Any]) -> Claim:
    return Claim(ClaimHome(raw["home"]), raw["size"], b64decode(raw["data"]), raw["key"])


def read_meter(raw: Mapping[str, Any]) -> Meter:
    """Read a meter from what `asdict` makes of one."""
    return Meter(raw["account_id"], raw["period"], Allowance(raw["allowance"]), raw["cap"])


def read_error(raw: Mapping[str, Any]) -> ErrorBody:
    """Read a failure from what `asdict` makes of one."""
    code = raw["code"]
    return ErrorBody(
        status=raw["status"],
        message=raw["message"],
        kind=ErrorKind(raw["kind"]),
        code=ErrorCode(code) if code else None,
        data=raw["data"],
        stack_trace=tuple(raw["stack_trace"]),
    )
