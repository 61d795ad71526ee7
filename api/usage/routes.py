"""The routes under /v2/account/usage."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from flask import Response

from api.admission.gate import find_used
from api.auth.guard import Principal, current_principal
from api.http import read_date, read_limit, write_json
from api.operations.model import Parameter, Routes, current_query, get, json_response
from api.operations.parameters import LIMIT
from shared.auth.scopes import Scope
from shared.records import TIMESTAMP_PATTERN
from shared.usage import repository as usage
from shared.usage.metering import Costs, DraftUsage, Totals, UsageDays, UsageReport, UsageTemplates
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
        period = _read_period(current_query(), principal)
        if period == principal.period:
            used = find_used(principal, self._ports)
        else:
            with self._ports.database.snapshot() as session:
                used = usage.find_totals(session, principal.state.account_id, period.key)
        return write_json(_report(principal, period, used).show())

    @get("/v2/account/usage/days", {200: json_response("The report.", "UsageDays")}, query=(_DATE,))
    def report_usage_by_day(self) -> Response:
        """Report usage by day.

        Pages and renders by day. A render is included a few seconds after it has ended. What was accepted before
        the period and ended in it is on its day, but counts for the period before.
        """
        principal = current_principal()
        period = _read_period(current_query(), principal)
        with self._ports.database.snapshot() as session:
            days = usage.list_days(
                session, principal.state.account_id, first=period.start, end=period.end
            )
        return write_json(UsageDays(**_dates(period), days=days).show())

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
        period, limit = _read_period(query, principal), read_limit(query)
        with self._ports.database.snapshot() as session:
            found, has_more = usage.list_templates(
                session, principal.state.account_id, period.key, limit=limit
            )
        report = UsageTemplates(**_dates(period), templates=found, has_more=has_more)
        return write_json(report.show())

    @get("/v2/account/costs", {200: json_response("The report.", "Costs")}, query=(_DATE, LIMIT))
    def report_costs(self) -> Response:
        """Report costs.

        The processor time of a billing period that rendering took, by day, and by template, those with most first. What failed is
        not metered. A render is included a few seconds after it has ended.
        """
        principal, query = current_principal(), current_query()
        account_id = principal.state.account_id
        period, limit = _read_period(query, principal), read_limit(query)
        with self._ports.database.snapshot() as session:
            used = usage.find_totals(session, account_id, period.key)
            days = usage.list_days(session, account_id, first=period.start, end=period.end)
            found, has_more = usage.list_templates(
                session, account_id, period.key, limit=limit, by="cpu_us"
            )
        report = Costs(
            **_dates(period),
            cpu_seconds=used.cpu_seconds,
            days=days,
            templates=found,
            has_more=has_more,
        )
        return write_json(report.show())


def _read_period(query: Mapping[str, str], principal: Principal) -> Period:
    day = read_date(query)
    if day is None:
        return principal.period
    return find_period(day, renewal_day=principal.state.renewal_day)


def _report(principal: Principal, period: Period, used: Totals) -> UsageReport:
    state, production, draft = principal.state, used.production, used.draft
    return UsageReport(
        **_dates(period),
        pages_generated=production.pages,
        api_calls=production.calls,
        max_pages_generated=state.max_pages,
        draft=DraftUsage.of(draft) if draft.calls else None,
        max_draft_pages_generated=state.max_draft_pages,
        overage_pages=max(0, production.pages - state.max_pages) or None,
        cpu_seconds=used.cpu_seconds,
        max_cpu_seconds=state.max_cpu_seconds,
    )


def _dates(period: Period) -> dict[str, datetime]:
    return {"start_date": period.start_instant, "end_date": period.end_instant}
