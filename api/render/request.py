"""Parameters of render and validate requests: steps 4 and 5 of the order of checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from flask import Request

from api.auth.guard import Principal
from api.http import parse_timestamp, quote, read_charset
from api.operations.model import current_query
from api.ports import Ports
from shared.clock import now, timestamp
from shared.db.queries import find_retention
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import Allowance, BodyKind, PinnedTemplate, Purpose, RenderOutput
from shared.templates.linking import pin_content
from shared.templates.pinning import read_pin, write_pin
from shared.templates.references import TemplateReference, parse_reference
from shared.templates.repository import EMPTY_SHA256
from shared.webhooks.destinations import Destination, FileForm, has_own_names
from shared.webhooks.repository import find_target

DEFAULT_FLOW: Final = "body"
_OFFSET: Final = re.compile(r"T.*(Z|[+-][\d:]+)$")
_INVOICE_TYPES: Final = ("application/xml", "text/xml")

_KINDS: Final[Mapping[str, BodyKind]] = {
    "text/xml": BodyKind.XML,
    "application/xml": BodyKind.XML,
    "text/plain": BodyKind.XML,
    "application/json": BodyKind.JSON,
    "text/csv": BodyKind.CSV,
    "text/markdown": BodyKind.MARKDOWN,
}
_NAMES: Final[Mapping[BodyKind, str]] = {
    BodyKind.JSON: "JSON",
    BodyKind.CSV: "CSV",
    BodyKind.MARKDOWN: "Markdown",
}


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """The parameters of a render or validation, without the body. `flow` is set for Markdown only."""

    kind: BodyKind
    charset: str | None
    template: TemplateReference | None
    flow: str | None
    allowance: Allowance
    filename: str | None = None
    output: RenderOutput = RenderOutput.PDF


def read_render_request(request: Request, purpose: Purpose) -> RenderRequest:
    """Read the query and the Content-Type, before the body.

    Raises:
        ServiceError: 400 for a parameter, 415 for the Content-Type.
    """
    query = current_query()
    template = _read_template(query)
    sent = request.mimetype
    kind = _KINDS.get(sent)
    flow = _read_flow(query, kind=kind, sent=sent)
    if kind is not None and kind is not BodyKind.XML and template is None:
        raise ServiceError(
            400, f"The template query parameter is required when posting {_NAMES[kind]} data."
        )
    charset = read_charset(request)
    if kind is None:
        raise _unaccepted(sent)
    return RenderRequest(
        kind=kind,
        charset=_check_charset(kind, charset),
        template=template,
        flow=flow,
        allowance=Allowance.DRAFT if query.get("draft") == "true" else Allowance.PRODUCTION,
        filename=query.get("filename"),
        output=_read_output(request, query) if purpose is Purpose.RENDER else RenderOutput.PDF,
    )


def _read_output(request: Request, query: Mapping[str, str]) -> RenderOutput:
    """Return what `Accept` asks for: the XML if it names XML and does not accept a PDF.

    A browser also names XML, beside `*/*`, which accepts the PDF.
    """
    accepted = request.accept_mimetypes
    if accepted.quality("application/pdf") > 0 or not any(
        media.lower() in _INVOICE_TYPES and quality > 0 for media, quality in accepted
    ):
        return RenderOutput.PDF
    if query.get("draft") == "true":
        raise ServiceError(
            400,
            "A draft has no electronic invoice, which could not carry the DRAFT mark: leave out "
            "draft=true, or accept application/pdf.",
        )
    return RenderOutput.INVOICE


def _read_template(query: Mapping[str, str]) -> TemplateReference | None:
    current, former = query.get("template"), query.get("template_id")
    if current is not None and former is not None and current != former:
        raise ServiceError(
            400,
            f"The query parameters template ({current!r}) and template_id ({former!r}), its former name, "
            "differ: send one of them, or the same value in both.",
        )
    field = "template" if current is not None else "template_id"
    text = query.get(field)
    return None if text is None else parse_reference(text, field=field)


def _read_flow(query: Mapping[str, str], *, kind: BodyKind | None, sent: str) -> str | None:
    flow = query.get("flow")
    if kind is BodyKind.MARKDOWN:
        return flow or DEFAULT_FLOW
    if flow is not None:
        raise ServiceError(
            400,
            f"The query parameter flow is accepted with Content-Type text/markdown only; the request has "
            f"{sent or 'none'}.",
        )
    return None


def _check_charset(kind: BodyKind, charset: str | None) -> str | None:
    if kind is BodyKind.JSON and charset not in (None, "utf-8"):
        raise ServiceError(415, f"Unaccepted charset {charset} for JSON; accepted is UTF-8.")
    return charset


def _unaccepted(sent: str) -> ServiceError:
    return ServiceError(
        415,
        f"Unaccepted Content-Type {sent!r}; accepted are {', '.join(_KINDS)}."
        if sent
        else f"A Content-Type is required; accepted are {', '.join(_KINDS)}.",
    )


def pin_template(
    reference: TemplateReference, principal: Principal, ports: Ports
) -> PinnedTemplate:
    """Resolve a reference to its current content by digest, so that a retry renders the same content.

    Raises:
        ServiceError: 404, the account has no such template, version or tag; 400, the template is empty.
    """
    account_id = principal.state.account_id
    pins = ports.cell(account_id).template_pins
    text = pins.find(account_id, str(reference))
    if text is not None:
        pinned = read_pin(text)
    else:
        with ports.database.snapshot() as session:
            pinned = pin_content(session, principal.reader, reference)
        pins.put(account_id, str(reference), write_pin(pinned))
    if pinned.sha256 == EMPTY_SHA256:
        raise ServiceError(
            400, f"Template '{reference}' has no content yet.", code=ErrorCode.TEMPLATE_EMPTY
        )
    return pinned


def find_template(
    asked: RenderRequest, principal: Principal, ports: Ports
) -> PinnedTemplate | None:
    """Return the template that a request names, None if it names none; see `pin_template`."""
    return pin_template(asked.template, principal, ports) if asked.template else None


@dataclass(frozen=True, slots=True)
class Order:
    """The destination that results are delivered to, and from when on; None for at once."""

    destination: Destination
    send_at: datetime | None


def find_order(
    principal: Principal,
    ports: Ports,
    *,
    has_record: bool,
    is_batch: bool = False,
    is_merged: bool = False,
    hours: int | None = None,
) -> Order | None:
    """Return where and when the results of the request are delivered, None for nowhere.

    `hours` is how long the plan of a run keeps them, None for as long as the account does.

    Raises:
        ServiceError: 404, the account has no such destination; 400, its mails need values of a payload, and
            a result has not `has_record`, its Peppol envelopes need the invoice of each document, and files
            are merged, its names are equal for all files of a batch, or `send_at` is no moment of the time that
            results are kept.
    """
    account_id = principal.state.account_id
    destination_id, send_at = map(current_query().get, ("deliver", "send_at"))
    if destination_id is None:
        if send_at is not None:
            raise ServiceError(400, "send_at needs deliver, a destination of the account.")
        return None
    with ports.database.snapshot() as session:
        found = find_target(session, Destination, account_id, destination_id)
        kept = find_retention(session, account_id, hours)[0]
    if found.settings.paths and not has_record:
        raise ServiceError(
            400,
            "The mails of the destination need values of the payload: deliver renders of JSON, and batches with "
            "a PDF for each document.",
        )
    if is_merged and found.settings.file is FileForm.PEPPOL:
        raise ServiceError(
            400,
            "The destination takes the invoice of each document: deliver PDFs that are not merged.",
        )
    if is_batch and not has_own_names(found.settings.name):
        raise ServiceError(
            400,
            "The names of the destination are equal for all files of a batch, of which each would replace the one "
            "before: deliver to a destination whose name has {job} or {index}.",
        )
    if send_at is None:
        return Order(found, None)
    why = "as long as results are kept"
    return Order(found, read_moment("send_at", send_at, within=kept, why=why))


def read_moment(field: str, text: str, *, within: timedelta, why: str) -> datetime:
    """Read a moment of a query parameter, from now to some time later.

    Raises:
        ServiceError: 400, it is none, and `why` there is a last one.
    """
    at = now()
    instant = parse_timestamp(text) if _OFFSET.search(text) else None
    if instant is None:
        raise ServiceError(
            400,
            f"Invalid {field} {quote(text)}: accepted is a moment with its offset, such as 2027-01-31T08:00:00Z; "
            "write the + of an offset as %2B.",
        )
    if not at < instant <= at + within:
        last = timestamp(at + within)
        raise ServiceError(
            400, f"Invalid {field} {quote(text)}: accepted is a moment from now to {last}, {why}."
        )
    return instant
