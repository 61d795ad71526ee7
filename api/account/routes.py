"""The routes GET /v2/authcheck and GET /v2/account/usage."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any, Final

from flask import Blueprint, Response, request

from api.admission.allowance import find_used
from api.auth.guard import Principal, current_principal
from api.exchange import read_query, write_json
from api.ports import Ports
from shared.clock import timestamp
from shared.db import usage
from shared.errors import ServiceError
from shared.metering import Totals
from shared.periods import Period, find_period

_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?\Z", re.ASCII
)


class AccountRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("account", __name__)
        routes.get("/v2/authcheck")(self.check_key)
        routes.get("/v2/account/usage")(self.report_usage)
        return routes

    def check_key(self) -> Response:
        """Confirm the key and name its account."""
        principal = current_principal()
        user, state = principal.user, principal.state
        read_query(request, ())
        status = f"Authenticated as account {state.account_id}, user {user.name} <{user.email}>."
        return write_json({"status": status})

    def report_usage(self) -> Response:
        """Report the pages of a billing period."""
        principal = current_principal()
        period = _read_period(read_query(request, ("date",)).get("date"), principal)
        if period == principal.period:
            used = find_used(principal, self._ports)
        else:
            with self._ports.database.snapshot() as session:
                used = usage.find_totals(session, principal.state.account_id, period.key)
        return write_json(_report(principal, period, used))


def _read_period(text: str | None, principal: Principal) -> Period:
    if text is None:
        return principal.period
    try:
        return find_period(_parse_day(text), renewal_day=principal.state.renewal_day)
    except (ValueError, OverflowError) as error:
        raise ServiceError(
            400,
            f"Invalid date {text[:60]!r}: accepted is YYYY-MM-DD or an ISO 8601 timestamp.",
        ) from error


def _parse_day(text: str) -> date:
    """Give the day, in UTC, of a date or of a timestamp; one without a zone is in UTC."""
    if not _DATE.match(text):
        raise ValueError
    instant = datetime.fromisoformat(text)
    return instant.date() if instant.tzinfo is None else instant.astimezone(UTC).date()


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
