"""The operations and schemas of recorded jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.http import MAX_WAIT_SECONDS
from api.openapi.json_schema import (
    Schema,
    array_of,
    boolean,
    date_time,
    enum_of,
    integer,
    object_schema,
    ref,
    string,
)
from api.openapi.model import (
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    FILENAME,
    LIMIT,
    NO_CONTENT,
    PDF_RESPONSE,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    file_responses,
    json_content,
)
from api.openapi.schemas import WARNINGS
from shared.db.jobs import JobStatus

EXAMPLE_JOB: Final = "job_3ocgfeeghiuyg5wnorrj2owg"
JOB_ID: Final = string(
    "Id of a job; with a hyphen and an index, a document of a batch.",
    pattern="^job_[a-z2-7]{24}(-[0-9]{1,9})?$",
    examples=[EXAMPLE_JOB],
)
WAIT: Final = Parameter(
    "wait",
    {
        "type": "string",
        "pattern": r"^([0-5]?[0-9](\.[0-9]{1,3})?|60(\.0{1,3})?)$",
        "default": "0",
        "examples": ["30"],
    },
    f"Long poll: seconds to wait for a final status, at most {MAX_WAIT_SECONDS}.",
)

JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": object_schema(
        {
            "id": JOB_ID,
            "status": enum_of(JobStatus),
            "draft": boolean("Whether the PDF has the draft watermark."),
            "template": string("The template reference, as requested."),
            "pages": integer("Number of pages of a job that succeeded."),
            "error": ref("Error"),
            "warnings": WARNINGS,
            "created_at": date_time("When it was accepted."),
            "started_at": date_time("When a worker first started it."),
            "finished_at": date_time("When it ended."),
            "expires_at": date_time("When its PDF is deleted."),
        },
        optional=(
            "template",
            "pages",
            "error",
            "warnings",
            "started_at",
            "finished_at",
            "expires_at",
        ),
    ),
    "JobList": object_schema(
        {
            "jobs": array_of("Job", maxItems=1000),
            "next_cursor": string("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
}

_PATH: Final = (Parameter("job_id", JOB_ID, "A job of the account."),)
_TAG: Final = "Jobs"
_NOT_FOUND: Final[ErrorStatuses] = {404: ()}

JOB_OPERATIONS: Final = (
    Operation(
        "get", "/v2/jobs", "listJobs", _TAG, "List jobs",
        "The recorded jobs of the account, newest first: asynchronous renders, and renders with an "
        "Idempotency-Key. Documents of a batch are listed with the batch. With status=queued or "
        "status=running a page can be short, even empty, and still have a next_cursor.",
        {200: OperationResponse("One page.", json_content("JobList"))},
        query_parameters=(
            Parameter("status", enum_of(JobStatus), "Only jobs of this status."),
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "pattern": "^job_[a-z2-7]{24}$", "examples": [EXAMPLE_JOB]},
                "The next_cursor of the previous page.",
            ),
        ),
    ),
    Operation(
        "get", "/v2/jobs/{job_id}", "readJob", _TAG, "Read a job",
        "The record is kept for 7 days after the job has ended.",
        {200: OperationResponse("The record.", json_content("Job"))},
        path_parameters=_PATH,
        query_parameters=(WAIT,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/jobs/{job_id}/pdf", "readJobPdf", _TAG, "Read a job's PDF",
        "The same response as that of a synchronous render; available for 24 hours. 409 when the job has not "
        "succeeded, 410 once the PDF has expired.",
        file_responses(PDF_RESPONSE),
        path_parameters=_PATH,
        query_parameters=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors={**_NOT_FOUND, **FILE_ERRORS},
    ),
    Operation(
        "delete", "/v2/jobs/{job_id}", "deleteJob", _TAG, "Cancel or remove a job",
        "Cancels a queued job, stops a running one, and deletes one that has ended, with its PDF. "
        "Cancelled jobs are not metered. A document of a batch can be cancelled with its batch only.",
        {204: NO_CONTENT},
        path_parameters=_PATH,
        errors={**_NOT_FOUND, 409: ()},
    ),
)  # fmt: skip
