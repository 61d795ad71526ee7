"""The routes under /v2/account/usage."""

from __future__ import annotations

from typing import Any, Final

from flask import Response

from api.admission.allowance import find_used
from api.auth.guard import Principal, current_principal
from api.http import read_limit, write_json
from api.operations.json_schema import TIMESTAMP_PATTERN
from api.operations.model import Parameter, Routes, current_query, get, json_response
from api.operations.parameters import LIMIT
from api.timestamps import parse_date
from shared.auth.scopes import Scope
from shared.clock import timestamp
from shared.errors import ServiceError
from shared.usage import repository as usage
from shared.usage.metering import Totals
from shared.usage.periods import Period, find_period

_DATE: Final = Parameter(
    "date",
    {"type": "string", "pattern": TIMESTAMP_PATTERN, "examples": ["2026-11-26"]},
    "A date in the billing period, YYYY-MM-DD or an ISO 8601 timestamp; default is the current period.",
)


class UsageRoutes(Routes):
    """The views."""

    tag = "Account"
    scopes = frozenset((Scope.ACCOUNT,))

    @get("/v2/account/usage", {200: json_response("The report.", "Usage")}, query=(_DATE,))
    def report_usage(self) -> Response:
        """Report usage.

        Pages and renders of a billing period, which runs from renewal day to renewal day.
        """
        principal = current_principal()
        period = _read_period(current_query().get("date"), principal)
        if period == principal.period:
            used = find_used(principal, self._ports)
        else:
            with self._ports.database.snapshot() as session:
                used = usage.find_totals(session, principal.state.account_id, period.key)
        return write_json(_report(principal, period, used))

    @get("/v2/account/usage/days", {200: json_response("The report.", "UsageDays")}, query=(_DATE,))
    def report_usage_by_day(self) -> Response:
        """Report usage by day.

        Pages and renders of a billing period by day. A render is included a few seconds after it has ended.
        """
        principal = current_principal()
        period = _read_period(current_query().get("date"), principal)
        with self._ports.database.snapshot() as session:
            days = usage.list_days(
                session, principal.state.account_id, first=period.start, end=period.end
            )
        return write_json(
            {
                "startDate": timestamp(period.start_instant),
                "endDate": timestamp(period.end_instant),
                "days": [_write_day(day) for day in days],
            }
        )

    @get(
        "/v2/account/usage/templates",
        {200: json_response("The report.", "UsageTemplates")},
        query=(_DATE, LIMIT),
    )
    def report_usage_by_template(self) -> Response:
        """Report usage by template.

        Pages and renders of a billing period by template, those with most pages first. A render is included
        a few seconds after it has ended.
        """
        principal = current_principal()
        query = current_query()
        period, limit = _read_period(query.get("date"), principal), read_limit(query)
        with self._ports.database.snapshot() as session:
            found, has_more = usage.list_templates(
                session, principal.state.account_id, period.key, limit=limit
            )
        return write_json(
            {
                "startDate": timestamp(period.start_instant),
                "endDate": timestamp(period.end_instant),
                "templates": [_write_template(each) for each in found],
                "has_more": has_more,
            }
        )


def _read_period(text: str | None, principal: Principal) -> Period:
    if text is None:
        return principal.period
    try:
        return find_period(parse_date(text), renewal_day=principal.state.renewal_day)
    except (ValueError, OverflowError) as error:
        raise ServiceError(
            400,
            f"Invalid date {text[:60]!r}: accepted is YYYY-MM-DD or an ISO 8601 timestamp.",
        ) from error


def _write_day(day: usage.DayUsage) -> dict[str, Any]:
    return {"date": day.day.isoformat(), **_write_used(day.used)}


def _write_template(template: usage.TemplateUsage) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if template.template_id is not None:
        record["template"] = template.template_id
    if template.name is not None:
        record["name"] = template.name
    return {**record, **_write_used(template.used)}


def _write_used(used: Totals) -> dict[str, Any]:
    production, draft = used.production, used.draft
    return {
        "pagesGenerated": production.pages,
        "apiCalls": production.calls,
        "draft": {"pagesGenerated": draft.pages, "apiCalls": draft.calls},
    }


def _report(principal: Principal, period: Period, used: Totals) -> dict[str, Any]:
    state, production, draft = principal.state, used.production, used.draft
    report: dict[str, Any] = {
        "pagesGenerated": production.pages,
        "apiCalls": production.calls,
        "maxPagesGenerated": state.max_pages,
        "startDate": timestamp(period.start_instant),
        "endDate": timestamp(period.end_instant),
    }
    if draft.calls:
        report["draft"] = {"pagesGenerated": draft.pages, "apiCalls": draft.calls}
    if state.max_draft_pages is not None:
        report["maxDraftPagesGenerated"] = state.max_draft_pages
    if production.pages > state.max_pages:
        report["overagePages"] = production.pages - state.max_pages
    return report
