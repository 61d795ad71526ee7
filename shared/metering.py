"""What a metered render counts: the usage event, the totals of a period, and their Redis counters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from shared import json_text
from shared.clock import timestamp
from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.jobs import Allowance, Meter

EVENT_TYPE: Final = "pressroom.pages"
EVENT_SOURCE: Final = "/pressroom/workers"

# Longer than any period, so that a period's counters outlive it and then go by themselves.
COUNTER_TTL_SECONDS: Final = 70 * 24 * 3600

# What the ledger can hold: one event it could not would hold up all the others of its batch.
_MAX_ID: Final = 64
_MAX_PAGES: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Pages generated and renders made against one allowance."""

    pages: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """What an account used in one billing period, by allowance."""

    production: Usage = Usage()
    draft: Usage = Usage()

    def of(self, allowance: Allowance) -> Usage:
        """Return what was used of one allowance."""
        return self.draft if allowance is Allowance.DRAFT else self.production


def usage_key(account_id: str, period: str) -> str:
    """Name the Redis hash that caches the totals of an account's period.

    Its fields are `production:pages`, `production:calls`, `draft:pages`, `draft:calls`, and
    `seeded` once the ledger's totals have been taken over.
    """
    return f"usage:{account_id}:{period}"


def used_up(meter: Meter, used: int) -> ErrorBody:
    """Make the failure of a render whose allowance is used up: `used` pages of its cap."""
    is_draft = meter.allowance is Allowance.DRAFT
    return ErrorBody(
        402,
        f"The {meter.allowance} page allowance of this billing period is used up: "
        f"{used} of {meter.cap} pages.",
        ErrorKind.QUOTA,
        ErrorCode.DRAFT_QUOTA_EXCEEDED if is_draft else ErrorCode.QUOTA_EXCEEDED,
        {"cap": meter.cap, "usage": used},
    )


@dataclass(frozen=True, slots=True)
class PageEvent:
    """One metered render, identified by its job id: repeats of it count once (contract.md 7)."""

    job_id: str
    account_id: str
    period: str
    allowance: Allowance
    pages: int
    occurred_at: datetime

    @classmethod
    def of(cls, meter: Meter, job_id: str, *, pages: int, at: datetime) -> PageEvent:
        """Make the event of a job that was rendered for an account, with the instant of its end."""
        return cls(job_id, meter.account_id, meter.period, meter.allowance, pages, at)

    def encode(self) -> str:
        """Write the event as a CloudEvents 1.0 JSON object."""
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
                },
            }
        ).decode()

    @classmethod
    def decode(cls, text: str | bytes) -> PageEvent:
        """Read an event from its JSON object.

        Raises:
            ValueError: the text is no page event, or one of its fields is missing or wrong.
        """
        try:
            raw = json.loads(text)
            if raw["type"] != EVENT_TYPE:
                raise ValueError(f"event type {raw['type']!r}, expected {EVENT_TYPE!r}")
            data = raw["data"]
            return cls(
                job_id=_text(raw["id"]),
                account_id=_text(raw["subject"]),
                period=_day(data["period"]),
                allowance=Allowance(data["allowance"]),
                pages=_count(data["pages"]),
                occurred_at=_instant(raw["time"]),
            )
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"not a usage event: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Metered:
    """A document that has ended: its pages, and its event where it is metered."""

    pages: int
    event: PageEvent | None


def metering_args(meter: Meter, ended: Iterable[Metered]) -> list[str | int]:
    """Return what `metering.lua` takes: TTL of the counters, allowance, cap, pages and events in turns."""
    args: list[str | int] = [
        COUNTER_TTL_SECONDS,
        meter.allowance.value,
        "" if meter.cap is None else meter.cap,
    ]
    for each in ended:
        args += each.pages, "" if each.event is None else each.event.encode()
    return args


def _text(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_ID:
        raise ValueError(f"expected a text of 1 to {_MAX_ID} characters, got {value!r}")
    return value


def _day(value: object) -> str:
    return date.fromisoformat(_text(value)).isoformat()


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_PAGES:
        raise ValueError(f"expected a number of pages, got {value!r}")
    return value


def _instant(value: object) -> datetime:
    instant = datetime.fromisoformat(_text(value))
    if instant.tzinfo is None:
        raise ValueError(f"expected an instant with a zone, got {value!r}")
    return instant
