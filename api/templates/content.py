"""The text of uploaded templates: decoding, well-formedness, its number of findings, and the transaction of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final

from api.admission.body import Body
from api.admission.gate import admit_unmetered
from api.auth.guard import Principal
from api.jobs.queued import run_body
from api.ports import Ports
from shared.db.session import Session
from shared.encodings import UnacceptedEncodingError, detect_xml_codec
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.records import Allowance, BodyKind, Purpose
from shared.queue.names import VALIDATE
from shared.templates.linking import pin_content
from shared.templates.links import NotWellFormedError, check_well_formed, is_quickly_parsed
from shared.templates.references import TemplateReference
from shared.templates.repository import EMPTY_SHA256

_DECLARATION: Final = re.compile(r"<\?xml\s[^>]{0,200}\?>\s*")


def read_content(data: bytes, *, charset: str | None, inspect: Callable[[bytes], object]) -> str:
    """Return a template's text as it is stored: without BOM, XML declaration and the space after it.

    `charset` is that of the Content-Type. Empty data is a template without content. `inspect` has a worker
    check a text, in UTF-8, that is too large to be parsed beside other requests.

    Raises:
        ServiceError: 400 with the position, the text is not in its encoding, not well-formed, or
            declares a document type; and the errors of `inspect`.
    """
    text = _decode(data, charset=charset)
    if text:
        _check_well_formed(text, inspect)
    return _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text


def _decode(data: bytes, *, charset: str | None) -> str:
    try:
        codec = detect_xml_codec(data, charset)
    except UnacceptedEncodingError as error:
        raise ServiceError(400, f"{error}.") from error
    try:
        return data.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ServiceError(
            400, f"The body is not {codec} text: byte {error.start + 1} cannot be read."
        ) from error


def _check_well_formed(text: str, inspect: Callable[[bytes], object]) -> None:
    # With its declaration, so that positions are the author's.
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ServiceError(
            400, "The body has a character that XML does not allow: an unpaired surrogate."
        ) from error
    if not is_quickly_parsed(text):
        inspect(encoded)
        return
    try:
        check_well_formed(encoded)
    except NotWellFormedError as error:
        raise ServiceError(400, str(error)) from error


# A template is saved whatever is wrong with it, so its author waits this long at most to hear of it.
SECONDS: Final = 2.0
_BODY: Final = b"{}"


def find_findings(
    principal: Principal, reference: TemplateReference, ports: Ports
) -> dict[str, Any] | None:
    """Return the number of errors and warnings of a template with its sample values, and where to read them.

    None if no worker has found them in time: there is none, or all are busy.
    """
    try:
        counted = _count(principal, reference, ports)
    except (ServiceError, Unavailable):
        return None
    return counted and {**counted, "validate": f"/v2/validate?template={reference}"}


def _count(
    principal: Principal, reference: TemplateReference, ports: Ports
) -> dict[str, int] | None:
    cell = ports.cell(principal.state.account_id)
    if not cell.places.has_worker(VALIDATE) or cell.drains.is_drained(VALIDATE):
        return None
    with ports.database.snapshot() as session:
        template = pin_content(session, principal.reader, reference)
    if template.sha256 == EMPTY_SHA256:
        return None
    # As a draft: what a production render requires of its data is no fault of the template.
    ticket = admit_unmetered(principal, ports, budget_seconds=SECONDS, allowance=Allowance.DRAFT)
    body, job_id = Body(BytesIO(_BODY), len(_BODY)), new_id("job")
    outcome = run_body(
        job_id, ticket, Purpose.VALIDATE, BodyKind.JSON, body, ports, template=template
    )
    return None if outcome.findings is None else _sum(outcome.findings)


def _sum(found: Mapping[str, Any]) -> dict[str, int]:
    left_out = found.get("leftOut", {})
    return {kind: len(found[kind]) + left_out.get(kind, 0) for kind in ("errors", "warnings")}


@contextmanager
def change_templates(principal: Principal, ports: Ports) -> Iterator[Session]:
    """Open a transaction that changes an account's contents, versions, tags or slugs.

    Cached references are dropped, so that the next render of every process sees the change.
    """
    account_id = principal.state.account_id
    ports.cell(account_id).template_pins.drop(account_id)
    with ports.database.session() as session:
        yield session
