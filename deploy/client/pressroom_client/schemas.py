"""The records of the API, written by `make records` from its description; /docs describes their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Approval:
    key_id: str
    approved_at: str
    approved_by: Mapping[str, Any]
    cases_passed: int | None = None


@dataclass(frozen=True, slots=True)
class BatchItem:
    index: int
    job_id: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    warnings: Sequence[Mapping[str, Any]] = ()
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    id: str
    kind: str
    target_id: str
    event: Literal["job.succeeded", "job.failed", "batch.finished", "webhook.test", "file.test"]
    status: Literal["pending", "delivered", "failed"]
    created_at: str
    attempts: Sequence[Mapping[str, Any]]
    next_attempt_at: str | None = None
    source_id: str | None = None
    name: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Dependent:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Destination:
    url: str
    id: str
    kind: Literal["s3", "sftp", "https", "smtp"]
    created_at: str
    name: str | None = None
    file: Literal["pdf", "peppol"] | None = None
    host_key: str | None = None
    mail: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FieldOption:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Finding:
    message: str
    source: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    valid: bool
    errors: Sequence[Finding]
    warnings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Font:
    name: str
    bytes: int
    sha256: str
    created_at: str
    created_by: Mapping[str, Any]
    updated_at: str
    updated_by: Mapping[str, Any]
    format: str
    faces: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FormField:
    name: str
    type: Literal["text", "checkbox", "radio", "select", "list", "button", "signature", "unknown"]
    value: str | Sequence[str] | None
    required: bool
    read_only: bool
    signed: bool | None = None
    options: Sequence[FieldOption] = ()
    label: str | None = None
    page: int | None = None
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class FormReport:
    fields: Sequence[FormField]
    xfa: bool


@dataclass(frozen=True, slots=True)
class Image:
    name: str
    bytes: int
    sha256: str
    created_at: str
    created_by: Mapping[str, Any]
    updated_at: str
    updated_by: Mapping[str, Any]
    content_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class InvoiceFinding:
    rule: str
    path: str
    element: str
    message: str
    severity: Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class InvoiceReport:
    valid: bool | None
    errors: Sequence[InvoiceFinding]
    warnings: Sequence[InvoiceFinding]
    checked_by: Sequence[RulePack]
    specification: str
    syntax: Literal["cii", "ubl"]
    note: str | None = None
    file: str | None = None
    profile: str | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    pages: int
    findings: Findings
    page: int | None = None
    width: float | None = None
    height: float | None = None
    file: PreviewFile | None = None
    boxes: Sequence[PreviewBox] = ()
    boxes_left_out: int = 0


@dataclass(frozen=True, slots=True)
class PreviewBox:
    x: float
    y: float
    width: float
    height: float
    source: Mapping[str, Any]
    loop: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class PreviewFile:
    content_type: Literal["image/png", "image/webp", "application/pdf"]
    data: bytes
    width: int | None = None
    height: int | None = None
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class RulePack:
    pack: str
    version: str
    date: str


@dataclass(frozen=True, slots=True)
class Slug:
    slug: str
    template_id: str


@dataclass(frozen=True, slots=True)
class TagEvent:
    action: Literal["created", "moved", "removed"]
    version: int | None
    at: str
    by: Mapping[str, Any]
    previous_version: int | None = None


@dataclass(frozen=True, slots=True)
class BatchRecord:
    id: str
    status: Literal["queued", "running", "finished", "cancelled"]
    draft: bool
    template: str
    total: int
    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int
    pages: int
    created_at: str
    forecast_at: str | None = None
    finished_at: str | None = None
    expires_at: str | None = None
    send_at: str | None = None
    error: Mapping[str, Any] | None = None
    plan: str | None = None
    priority: Literal["express", "normal", "night"] | None = None
    deadline: str | None = None
    late: bool | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    id: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    draft: bool
    created_at: str
    template: str | None = None
    pages: int | None = None
    error: Mapping[str, Any] | None = None
    warnings: Sequence[Mapping[str, Any]] = ()
    started_at: str | None = None
    finished_at: str | None = None
    expires_at: str | None = None
    send_at: str | None = None


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    display: str
    scopes: Sequence[Literal["read", "render", "templates", "account"]]
    user: Mapping[str, Any]
    created_at: str
    is_own: bool
    name: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SlugState:
    slug: str
    available: bool
    template_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    tag: str
    version: int
    updated_at: str | None = None
    updated_by: Mapping[str, Any] | None = None
    guarded: bool | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    id: str
    name: str
    versions: int
    sha256: str
    created_at: str
    created_by: Mapping[str, Any]
    updated_at: str
    updated_by: Mapping[str, Any]
    slug: str | None = None
    findings: Mapping[str, Any] | None = None
    content: str | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    version: int
    sha256: str
    message: str
    created_at: str
    created_by: Mapping[str, Any]
    cases_sha256: str | None = None
    findings: Mapping[str, Any] | None = None
    content: str | None = None
    approvals: Sequence[Approval] = ()
    built_on: Sequence[str] = ()
    links: Mapping[str, Any] = field(default_factory=dict)
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    url: str
    events: Sequence[Literal["job.succeeded", "job.failed", "batch.finished"]]
    created_at: str
    disabled_at: str | None = None
    secret: str | None = field(default=None, repr=False)
