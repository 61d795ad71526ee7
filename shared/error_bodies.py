"""The JSON error body of responses and job records."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from shared.clock import timestamp
from shared.errors import ErrorBody


def write_error_body(error: ErrorBody, *, at: datetime) -> dict[str, Any]:
    """Return the JSON error body of an error that occurred at `at`."""
    body: dict[str, Any] = {
        "statusCode": error.status,
        "message": error.message,
        "timestamp": timestamp(at),
    }
    if error.stack_trace:
        body["stackTrace"] = list(error.stack_trace)
    data = dict(error.data)
    if error.code is not None:
        data = {"code": error.code.value, **data}
    if data:
        body["data"] = data
    return body
