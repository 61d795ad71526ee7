"""Metering: usage events, the totals of a billing period, and their Redis counters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, NamedTuple, Self

from msgspec import Meta, field

from shared import json_text
from shared.clock import timestamp
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import TEMPLATE_ID
from shared.jobs.records import Allowance, Meter
from shared.records import Record, ShownRecord, Timestamp, doc

EVENT_TYPE: Final = "pressroom.pages"
EVENT_SOURCE: Final = "/pressroom/workers"

# Of an earlier release, `seeded` alone says nothing of the processor time.
SEEDED: Final = "seeded:cpu"

# Longer than any billing period, so that its counters outlive it and then expire.
COUNTER_TTL_SECONDS: Final = 70 * 24 * 3600

# The limits of the ledger's columns: one event beyond them would block all others of its batch.
_ID: Final = Meta(min_length=1, max_length=64)
_MAX_PAGES: Final = 1_000_000_000
_MAX_CPU: Final = 1_000_000_000_000  # 11 days
_SECOND: Final = 1_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Usage:
    """Pages and renders counted against one allowance, and the processor time of these renders."""

    pages: int = 0
    calls: int = 0
    cpu_us: int = 0


class Spent(NamedTuple):
    """What an account has used of its limits: pages of one allowance, and processor time of both."""

    pages: int
    cpu_us: int

    @classmethod
    def read(cls, verdict: str) -> Spent:
        """Read a verdict of `metering.lua`; those of an earlier release have pages alone."""
        pages, _, cpu_us = verdict.partition(":")
        return cls(int(pages), int(cpu_us or 0))


@dataclass(frozen=True, slots=True)
class Totals:
    """The usage of an account in one billing period, by allowance."""

    production: Usage = Usage()
    draft: Usage = Usage()

    def of(self, allowance: Allowance) -> Usage:
        """Return the usage of one allowance."""
        return self.draft if allowance is Allowance.DRAFT else self.production

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all renders."""
        return round((self.production.cpu_us + self.draft.cpu_us) / 1_000_000, 3)

    def spent(self, allowance: Allowance) -> Spent:
        """Return what counts against the limits of a render of an allowance."""
        return Spent(self.of(allowance).pages, self.production.cpu_us + self.draft.cpu_us)


def usage_key(account_id: str, period: str) -> str:
    """Return the key of the Redis hash that caches the totals of an account's period.

    Its fields are pages, calls and cpu of each allowance, such as `draft:pages`, and `SEEDED` once the
    ledger's totals have been added.
    """
    return f"usage:{account_id}:{period}"


def is_exhausted(meter: Meter, used: Spent) -> bool:
    """Return whether the pages or the processor time of a render's account are used up."""
    most_us = None if meter.max_cpu_seconds is None else meter.max_cpu_seconds * _SECOND
    return _has_reached(used.pages, meter.cap) or _has_reached(used.cpu_us, most_us)


def _has_reached(used: int, most: int | None) -> bool:
    return most is not None and used >= most


def allowance_exceeded(meter: Meter, used: Spent) -> ServiceError:
    """Return the error of a render whose account is exhausted."""
    if not _has_reached(used.pages, meter.cap):
        seconds = used.cpu_us // _SECOND
        return ServiceError(
            402,
            "The processor time of this billing period is used up: "
            f"{seconds} of {meter.max_cpu_seconds} seconds.",
            code=ErrorCode.CPU_QUOTA_EXCEEDED,
            data={"cap": meter.max_cpu_seconds, "usage": seconds},
        )
    is_draft = meter.allowance is Allowance.DRAFT
    return ServiceError(
        402,
        f"The {meter.allowance} page allowance of this billing period is used up: "
        f"{used.pages} of {meter.cap} pages.",
        code=ErrorCode.DRAFT_QUOTA_EXCEEDED if is_draft else ErrorCode.QUOTA_EXCEEDED,
        data={"cap": meter.cap, "usage": used.pages},
    )


class _EventData(Record, frozen=True):
    pages: Annotated[int, Meta(ge=0, le=_MAX_PAGES)]
    allowance: Allowance
    period: date
    template: Annotated[str, Meta(pattern="^" + TEMPLATE_ID.pattern)] | None = None
    cpu: Annotated[int, Meta(ge=0, le=_MAX_CPU)] = 0


class _CloudEvent(Record, frozen=True, tag_field="type", tag=EVENT_TYPE):
    id: Annotated[str, _ID]
    subject: Annotated[str, _ID]
    time: Annotated[datetime, Meta(tz=True)]
    data: _EventData


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """One metered render, identified by its job id: duplicates count once."""

    job_id: str
    account_id: str
    period: str
    allowance: Allowance
    pages: int
    occurred_at: datetime
    template_id: str | None = None
    cpu_us: int = 0

    @classmethod
    def of(
        cls, meter: Meter, job_id: str, *, pages: int, at: datetime, cpu_us: int = 0
    ) -> UsageEvent:
        """Return the event of a finished job of an account; `at` is when it ended."""
        account_id, template_id = meter.account_id, meter.template_id
        return cls(
            job_id, account_id, meter.period, meter.allowance, pages, at, template_id, cpu_us
        )

    def encode(self) -> str:
        """Encode the event as a CloudEvents 1.0 JSON object."""
        return json_text.encode(
            {
                "specversion": "1.0",
                "type": EVENT_TYPE,
                "source": EVENT_SOURCE,
                "id": self.job_id,
                "subject": self.account_id,
                "time": timestamp(self.occurred_at),
                "datacontenttype": "application/json",
                "data": {
                    "pages": self.pages,
                    "allowance": self.allowance.value,
                    "period": self.period,
                    "cpu": self.cpu_us,
                }
                | ({} if self.template_id is None else {"template": self.template_id}),
            }
        ).decode()

    @classmethod
    def decode(cls, text: str | bytes) -> UsageEvent:
        """Read an event from its JSON object.

        Raises:
            ValueError: the text is not a usage event, or a field is missing or invalid.
        """
        event = _CloudEvent.decode(text)
        data = event.data
        return cls(
            job_id=event.id,
            account_id=event.subject,
            period=data.period.isoformat(),
            allowance=data.allowance,
            pages=data.pages,
            occurred_at=event.time,
            template_id=data.template,
            cpu_us=data.cpu,
        )


@dataclass(frozen=True, slots=True)
class EndedDocument:
    """A rendered document: its pages, and its usage event if it is metered."""

    pages: int
    event: UsageEvent | None


def metering_args(meter: Meter, ended: Iterable[EndedDocument]) -> list[str | int]:
    """Return the arguments of `metering.lua`: TTL of the counters, allowance, caps, then pages, processor time and event of each document."""
    args: list[str | int] = [
        COUNTER_TTL_SECONDS,
        meter.allowance.value,
        "" if meter.cap is None else meter.cap,
        "" if meter.max_cpu_seconds is None else meter.max_cpu_seconds * _SECOND,
    ]
    for each in ended:
        spent, text = (0, "") if each.event is None else (each.event.cpu_us, each.event.encode())
        args += each.pages, spent, text
    return args


_CALLS = doc("Production renders that returned a PDF.", minimum=0)
_CPU = doc("Processor time of production renders and drafts, by the worker's clock.", minimum=0)


class DraftUsage(ShownRecord, frozen=True, rename="camel"):
    """Pages and renders of drafts."""

    pages_generated: Annotated[int, doc("Draft pages.", minimum=0)]
    api_calls: Annotated[int, doc("Draft renders.", minimum=0)]

    @classmethod
    def of(cls, used: Usage) -> Self:
        """Show what was counted."""
        return cls(used.pages, used.calls)


class _Counted(ShownRecord, frozen=True, kw_only=True, rename="camel"):
    pages_generated: Annotated[int, doc("Production pages.", minimum=0)]
    api_calls: Annotated[int, _CALLS]
    cpu_seconds: Annotated[float, _CPU]
    draft: DraftUsage

    @classmethod
    def of(cls, used: Totals, **others: Any) -> Self:
        """Show what was counted."""
        made, draft = used.production, DraftUsage.of(used.draft)
        spent = used.cpu_seconds
        return cls(
            pages_generated=made.pages,
            api_calls=made.calls,
            cpu_seconds=spent,
            draft=draft,
            **others,
        )


class UsageDay(_Counted, frozen=True, kw_only=True, rename="camel"):
    """The usage of an account on one day in UTC."""

    date: Annotated[str, doc("The day, in UTC.", format="date")]


class UsageTemplate(_Counted, frozen=True, kw_only=True, rename="camel"):
    """The usage of a template in a billing period; a deleted template keeps its name."""

    template: Annotated[
        str | None, doc("Id of the template; absent for documents without one.")
    ] = None
    name: Annotated[
        str | None, doc("Its name, also if it was deleted; absent for documents without one.")
    ] = None


class _Report(ShownRecord, frozen=True, kw_only=True, rename="camel"):
    start_date: Annotated[Timestamp, doc("First instant of the period.")]
    end_date: Annotated[Timestamp, doc("First instant after the period.")]


class UsageDays(_Report, frozen=True, kw_only=True, rename="camel"):
    """The usage in a billing period by day."""

    days: Annotated[Sequence[UsageDay], doc("Days with usage, in order.")]


class UsageTemplates(_Report, frozen=True, kw_only=True, rename="camel"):
    """The usage in a billing period by template."""

    templates: Annotated[Sequence[UsageTemplate], doc("Templates, most pages first.")]
    has_more: Annotated[bool, doc("Whether there are more than the limit.")] = field(
        name="has_more"
    )


class Costs(_Report, frozen=True, kw_only=True, rename="camel"):
    """The processor time of a billing period, by day and by template."""

    cpu_seconds: Annotated[float, _CPU]
    days: Annotated[Sequence[UsageDay], doc("Days with usage, in order.")]
    templates: Annotated[Sequence[UsageTemplate], doc("Templates, most processor time first.")]
    has_more: Annotated[bool, doc("Whether there are more templates than the limit.")] = field(
        name="has_more"
    )


class UsageReport(_Report, frozen=True, kw_only=True, rename="camel"):
    """The usage in a billing period, and its allowances."""

    pages_generated: Annotated[int, doc("Production pages of the period.", minimum=0)]
    api_calls: Annotated[int, _CALLS]
    max_pages_generated: Annotated[int, doc("The production allowance.", minimum=0)]
    draft: DraftUsage | None = None
    max_draft_pages_generated: Annotated[
        int | None, doc("The draft allowance, on plans that set one.", minimum=0)
    ] = None
    overage_pages: Annotated[int | None, doc("Pages beyond the allowance.", minimum=0)] = None
    cpu_seconds: Annotated[float, _CPU]
    max_cpu_seconds: Annotated[
        int | None, doc("The limit of processor time, if the operator set one.", minimum=0)
    ] = None
