"""The operations and shapes of jobs on record, and the request headers that lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.exchange import MAX_WAIT_SECONDS
from api.ops.operations import Answer, Operation, Parameter
from api.ops.schemas import Schema, ref
from shared.db.jobs import JobStatus

JOB_ID: Final[Schema] = {
    "type": "string",
    "pattern": "^job_[a-z2-7]{24}(-[0-9]{1,9})?$",
    "description": "With a hyphen and an index it is a document of a batch.",
}
WAIT: Final = Parameter(
    "wait",
    {
        "type": "string",
        "pattern": r"^([0-5]?[0-9](\.[0-9]{1,3})?|60(\.0{1,3})?)$",
        "default": "0",
    },
    f"Seconds to wait for the end, at most {MAX_WAIT_SECONDS}; the answer comes as soon as it is there.",
)


def _instant(text: str) -> Schema:
    return {
        "type": "string",
        "format": "date-time",
        "description": f"{text} ISO 8601, UTC, milliseconds.",
    }


JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": {
        "type": "object",
        "properties": {
            "id": JOB_ID,
            "status": {"type": "string", "enum": [status.value for status in JobStatus]},
            "draft": {"type": "boolean", "description": "Whether the PDF carries the mark."},
            "template": {"type": "string", "description": "The reference, as it was asked for."},
            "pages": {"type": "integer", "minimum": 0, "description": "Of a job that succeeded."},
            "error": ref("Error"),
            "created_at": _instant("When it was accepted."),
            "started_at": _instant("When a worker first began it."),
            "finished_at": _instant("When it ended."),
            "expires_at": _instant("When its PDF is deleted."),
        },
        "required": ["id", "status", "draft", "created_at"],
    }
}

_NAMED: Final = (Parameter("job_id", JOB_ID, "A job of the account."),)
_GROUP: Final = "Jobs"
_JOB: Final = {"application/json": ref("Job")}
_UNKNOWN: Final[Mapping[int, Any]] = {404: ()}

JOB_OPERATIONS: Final = (
    Operation(
        "get", "/v2/jobs/{job_id}", "readJob", _GROUP, "Read a job",
        "How far it is. The record is kept for 7 days after the job has ended.",
        {200: Answer("The record.", _JOB)},
        in_path=_NAMED,
        query=(WAIT,),
        failures=_UNKNOWN,
    ),
    Operation(
        "get", "/v2/jobs/{job_id}/pdf", "readJobPdf", _GROUP, "Read a job's PDF",
        "The answer a caller who waited would have got, as often as it is asked for, for 24 hours. "
        "409 when the job has not succeeded, 410 once the PDF has expired.",
        {
            200: Answer(
                "The PDF.",
                {"application/pdf": {}},
                {
                    "Content-Disposition": "Inline, with the name the document gives itself, else example.pdf.",
                    "X-Page-Count": "Number of pages.",
                    "X-Job-Id": "The job.",
                    "Server-Timing": "Milliseconds of queue, merge, layout and finish.",
                },
            )
        },
        in_path=_NAMED,
        failures={**_UNKNOWN, 409: (), 410: ()},
    ),
    Operation(
        "delete", "/v2/jobs/{job_id}", "deleteJob", _GROUP, "Cancel or remove a job",
        "Cancels a job that waits, stops one that runs, and removes one that has ended with its PDF. "
        "What is cancelled is not metered. A document of a batch is cancelled with its batch only.",
        {204: Answer("Done; there is no body.")},
        in_path=_NAMED,
        failures={**_UNKNOWN, 409: ()},
    ),
)  # fmt: skip
