"""The usage of an account as the API shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from msgspec import field

from shared.records import ShownRecord, Timestamp, doc
from shared.usage.metering import Totals, Usage

_CALLS = doc("Production renders that returned a PDF.", minimum=0)


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
    draft: DraftUsage

    @classmethod
    def of(cls, used: Totals, **others: Any) -> Self:
        """Show what was counted."""
        made, draft = used.production, DraftUsage.of(used.draft)
        return cls(pages_generated=made.pages, api_calls=made.calls, draft=draft, **others)


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
