"""The operations and shapes of jobs on record, and the request headers that lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.exchange import MAX_WAIT_SECONDS
from api.ops.parts import (
    EMPTY,
    FILENAME,
    LIMIT,
    PDF,
    Answer,
    Failures,
    Operation,
    Parameter,
    write_json,
)
from api.ops.schemas import WARNINGS
from api.ops.shapes import Schema, choice, count, flag, instant, list_of, record, ref, text
from shared.db.jobs import JobStatus

JOB_ID: Final = text(
    "With a hyphen and an index it is a document of a batch.",
    pattern="^job_[a-z2-7]{24}(-[0-9]{1,9})?$",
)
WAIT: Final = Parameter(
    "wait",
    {
        "type": "string",
        "pattern": r"^([0-5]?[0-9](\.[0-9]{1,3})?|60(\.0{1,3})?)$",
        "default": "0",
    },
    f"Seconds to wait for the end, at most {MAX_WAIT_SECONDS}; the answer comes as soon as it is there.",
)

JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": record(
        {
            "id": JOB_ID,
            "status": choice(JobStatus),
            "draft": flag("Whether the PDF carries the mark."),
            "template": text("The reference, as it was asked for."),
            "pages": count("Of a job that succeeded."),
            "error": ref("Error"),
            "warnings": WARNINGS,
            "created_at": instant("When it was accepted."),
            "started_at": instant("When a worker first began it."),
            "finished_at": instant("When it ended."),
            "expires_at": instant("When its PDF is deleted."),
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
    "JobList": record(
        {
            "jobs": list_of("Job", maxItems=1000),
            "next_cursor": text("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
}

_NAMED: Final = (Parameter("job_id", JOB_ID, "A job of the account."),)
_GROUP: Final = "Jobs"
_UNKNOWN: Final[Failures] = {404: ()}

JOB_OPERATIONS: Final = (
    Operation(
        "get", "/v2/jobs", "listJobs", _GROUP, "List jobs",
        "The jobs of the account that are on record, newest first: asynchronous renders, and those with "
        "an Idempotency-Key. Documents of batches are listed with their batch. With status=queued or "
        "status=running a page may be short, even empty, and still have a next_cursor.",
        {200: Answer("One page.", write_json("JobList"))},
        query=(
            Parameter("status", choice(JobStatus), "Only jobs of this status."),
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "pattern": "^job_[a-z2-7]{24}$"},
                "The next_cursor of the page before.",
            ),
        ),
    ),
    Operation(
        "get", "/v2/jobs/{job_id}", "readJob", _GROUP, "Read a job",
        "How far it is. The record is kept for 7 days after the job has ended.",
        {200: Answer("The record.", write_json("Job"))},
        in_path=_NAMED,
        query=(WAIT,),
        failures=_UNKNOWN,
    ),
    Operation(
        "get", "/v2/jobs/{job_id}/pdf", "readJobPdf", _GROUP, "Read a job's PDF",
        "The answer a caller who waited would have got, as often as it is asked for, for 24 hours. "
        "409 when the job has not succeeded, 410 once the PDF has expired.",
        {200: PDF},
        in_path=_NAMED,
        query=(FILENAME,),
        failures={**_UNKNOWN, 409: (), 410: ()},
    ),
    Operation(
        "delete", "/v2/jobs/{job_id}", "deleteJob", _GROUP, "Cancel or remove a job",
        "Cancels a job that waits, stops one that runs, and removes one that has ended with its PDF. "
        "What is cancelled is not metered. A document of a batch is cancelled with its batch only.",
        {204: EMPTY},
        in_path=_NAMED,
        failures={**_UNKNOWN, 409: ()},
    ),
)  # fmt: skip
