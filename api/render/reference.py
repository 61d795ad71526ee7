"""Resolution of a template reference to its content: step 7 of the order of checks."""

from __future__ import annotations

from api.auth.guard import Principal
from api.ports import Ports
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import PinnedTemplate
from shared.templates.linking import pin_content
from shared.templates.references import TemplateReference
from shared.templates.repository import EMPTY_SHA256


def pin_template(
    reference: TemplateReference, principal: Principal, ports: Ports
) -> PinnedTemplate:
    """Resolve a reference to its current content by digest, so that a retry renders the same content.

    Raises:
        ServiceError: 404, the account has no such template, version or tag; 400, the template is empty.
    """
    account_id = principal.state.account_id
    pins = ports.cell(account_id).template_pins
    pinned = pins.find(account_id, str(reference))
    if pinned is None:
        with ports.database.snapshot() as session:
            pinned = pin_content(session, principal.reader, reference)
        pins.put(account_id, str(reference), pinned)
    if pinned.sha256 == EMPTY_SHA256:
        raise ServiceError(
            400,
            f"Template '{reference}' has no content yet.",
            code=ErrorCode.TEMPLATE_EMPTY,
        )
    return pinned
