"""Parameters of batch requests: steps 4 and 5 of the order of checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Request

from api.http import quote, read_choice, require_content_type
from api.operations.model import current_query
from shared.batches.records import BatchKind, BatchOutput
from shared.errors import ServiceError
from shared.jobs.records import Allowance
from shared.settings import get_limits
from shared.templates.references import TemplateReference, parse_reference

_ARRAY: Final = "application/json"
_KINDS: Final[Mapping[str, BatchKind]] = {
    "application/x-ndjson": BatchKind.NDJSON,
    _ARRAY: BatchKind.NDJSON,  # converted while it is received
    "text/csv": BatchKind.CSV,
}


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The parameters of a new batch, without the body."""

    kind: BatchKind
    is_array: bool
    charset: str | None
    template: TemplateReference
    output: BatchOutput
    allowance: Allowance


def read_batch_request(request: Request) -> BatchRequest:
    """Read the parameters and the Content-Type, before the body.

    Raises:
        ServiceError: 400 for a parameter, 415 for the Content-Type.
    """
    query = current_query()
    if "template" not in query:
        raise ServiceError(400, "The template query parameter is required for a batch.")
    template = parse_reference(query["template"], field="template")
    output = read_choice(query, "output", BatchOutput) or BatchOutput.FILES
    content_type = require_content_type(request, _KINDS)
    kind = _KINDS[content_type.media_type]
    if kind is BatchKind.NDJSON and content_type.charset not in (None, "utf-8"):
        raise ServiceError(
            415, f"Unaccepted charset {content_type.charset} for JSON; accepted is UTF-8."
        )
    return BatchRequest(
        kind=kind,
        is_array=content_type.media_type == _ARRAY,
        charset=content_type.charset,
        template=template,
        output=output,
        allowance=Allowance.DRAFT if query.get("draft") == "true" else Allowance.PRODUCTION,
    )


def read_first_item(query: Mapping[str, str]) -> int:
    """Read the index after which a list of documents starts, -1 without one.

    Raises:
        ServiceError: 400, it is no index.
    """
    text = query.get("start_after", "-1")
    if "start_after" in query and not re.fullmatch(r"[0-9]{1,9}", text):
        raise ServiceError(
            400,
            f"Invalid start_after {quote(text)}: accepted is the index of a document, from 0 to "
            f"{get_limits().batch_documents - 1}.",
        )
    return int(text)
