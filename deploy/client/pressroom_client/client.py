"""The calls of a farm, as methods: renders, jobs and batches here, the rest by what it is about."""

from __future__ import annotations

import json
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, Unpack, cast
from urllib.parse import unquote

from pressroom_client.fonts import Fonts
from pressroom_client.images import Images
from pressroom_client.records import (
    Batch,
    BatchItem,
    Document,
    Finding,
    Findings,
    Job,
    Output,
    Rendered,
    RenderOptions,
    read_record,
)
from pressroom_client.templates import Slugs, Templates
from pressroom_client.transport import RequestOptions, Transport, copy, given, path_of
from pressroom_client.webhooks import Webhooks

Ending = TypeVar("Ending", Job, Batch)

LONGEST_WAIT: Final = 60.0  # of one request; longer waits are several
_SPOOL_BYTES: Final = 8 * 1024 * 1024
_TIMING: Final = re.compile(r"([a-z]+);dur=([0-9.]+)")
_FILENAME: Final = re.compile(r"filename\*=UTF-8''([^;]+)|filename=\"([^\"]*)\"")


class Pressroom:
    """A farm at a URL, with a key. Safe to share between threads.

    Every method raises `ApiError` when the farm refuses or fails, with its code and message, and
    `FarmUnreachable` when it gives no answer; both after `attempts` where another one may help.
    """

    def __init__(
        self, url: str, key: str, *, attempts: int = 6, timeout_seconds: float = 120.0
    ) -> None:
        self._transport = Transport(url, key, attempts=attempts, timeout_seconds=timeout_seconds)
        self.templates: Final = Templates(self._transport)
        self.slugs: Final = Slugs(self._transport)
        self.images: Final = Images(self._transport)
        self.fonts: Final = Fonts(self._transport)
        self.webhooks: Final = Webhooks(self._transport)

    def check(self) -> str:
        """Give what the farm says of the key."""
        return str(self._transport.ask_json("GET", "/v2/authcheck")["status"])

    def usage(self, *, date: str | None = None) -> Mapping[str, Any]:
        """Give the usage report of the billing period that `date` lies in, or of this one."""
        answer = self._transport.ask_json("GET", "/v2/account/usage", query=given({"date": date}))
        return cast("Mapping[str, Any]", answer)

    def is_alive(self) -> bool:
        """Return whether the front answers at all."""
        return bool(self._transport.ask_json("GET", "/healthz")["status"] == "alive")

    def parts(self) -> Mapping[str, str]:
        """Return each part of the farm, `up` or `down`; raises `ApiError` with 503 when it is not ready."""
        answer = self._transport.ask_json("GET", "/readyz")
        return cast("Mapping[str, str]", answer.get("parts", {}))

    def metrics(self) -> str:
        """Return the metrics of the front as Prometheus text."""
        return self._transport.ask("GET", "/metrics")[0].decode()

    def description(self) -> Mapping[str, Any]:
        """Return the OpenAPI description of the interface."""
        answer = self._transport.ask_json("GET", "/docs/openapi.json")
        return cast("Mapping[str, Any]", answer)

    # --- one document

    def render(
        self, document: Document | None = None, **options: Unpack[RenderOptions]
    ) -> Rendered:
        """Render a document, or `data` into a template, and give the PDF."""
        return _rendered(*self._transport.ask("POST", "/v2/pdf", **_request(document, options)))

    def validate(
        self, document: Document | None = None, **options: Unpack[RenderOptions]
    ) -> Findings:
        """Return every problem of a document, or of `data` in a template, without rendering it."""
        request = _request(document, options)
        request["headers"] = {"Content-Type": request["headers"]["Content-Type"]}
        request["query"] = {
            name: v for name, v in request["query"].items() if name in ("template", "flow")
        }
        answer = self._transport.ask_json("POST", "/v2/validate", **request)
        errors, warnings = (
            [read_record(Finding, each) for each in answer[kind]] for kind in ("errors", "warnings")
        )
        return Findings(answer["valid"], errors, warnings)

    def submit(self, document: Document | None = None, **options: Unpack[RenderOptions]) -> Job:
        """Have a document rendered while nobody waits for it."""
        request = _request(document, options, prefer="respond-async")
        return read_record(Job, self._transport.ask_json("POST", "/v2/pdf", **request))

    def jobs(self, *, status: str | None = None) -> Iterator[Job]:
        """Yield the account's jobs that are on record, newest first, all or those of a status."""
        for page in self._transport.pages("/v2/jobs", given({"status": status})):
            yield from (read_record(Job, each) for each in page["jobs"])

    def job(self, job_id: str) -> Job:
        """Give a job as it is now."""
        return read_record(Job, self._transport.ask_json("GET", path_of("jobs", job_id)))

    def wait(self, job_id: str, *, timeout_seconds: float | None = None) -> Job:
        """Give a job once it has ended, or as it is when the time is over."""
        return self._wait(Job, path_of("jobs", job_id), timeout_seconds, lambda _: None)

    def pdf(self, job_id: str, *, filename: str | None = None) -> Rendered:
        """Return the PDF of a job, also of one of a batch, under the document's name unless given."""
        query = given({"filename": filename})
        pdf, told = self._transport.ask("GET", path_of("jobs", job_id, "pdf"), query=query)
        return _rendered(pdf, told)

    def cancel(self, job_id: str) -> None:
        """Stop a job, or remove one that has ended."""
        self._transport.ask("DELETE", path_of("jobs", job_id))

    # --- many documents

    def submit_batch(
        self,
        template: str,
        documents: Iterable[Mapping[str, Any]] | str | PathLike[str],
        *,
        output: Output = "files",
        draft: bool = False,
        idempotency_key: str | None = None,
    ) -> Batch:
        """Have many documents rendered: payloads, or a file of them (.ndjson, or .csv by rows).

        An iterable is written to a temporary file first, so that it can be sent again.

        Raises:
            ValueError: the file is of another kind.
        """
        with _open_documents(documents) as (file, content_type):
            answer = self._transport.ask_json(
                "POST",
                "/v2/batches",
                query={"template": template, "output": output, **_draft(draft)},
                headers={
                    "Content-Type": content_type,
                    "Idempotency-Key": idempotency_key or str(uuid.uuid4()),
                },
                body=file,
            )
        return read_record(Batch, answer)

    def batches(self, *, status: str | None = None) -> Iterator[Batch]:
        """Yield the account's batches, newest first, all or those of a status."""
        for page in self._transport.pages("/v2/batches", given({"status": status})):
            yield from (read_record(Batch, each) for each in page["batches"])

    def batch(self, batch_id: str) -> Batch:
        """Give a batch as it is now."""
        return read_record(Batch, self._transport.ask_json("GET", path_of("batches", batch_id)))

    def wait_batch(
        self,
        batch_id: str,
        *,
        timeout_seconds: float | None = None,
        progress: Callable[[Batch], object] = lambda _: None,
        every_seconds: float = LONGEST_WAIT,
    ) -> Batch:
        """Give a batch once it has ended, or as it is when the time is over.

        `progress` is called with its record at least `every_seconds`.
        """
        path = path_of("batches", batch_id)
        return self._wait(Batch, path, timeout_seconds, progress, every_seconds)

    def items(self, batch_id: str, *, status: str | None = None) -> Iterator[BatchItem]:
        """Give the documents of a batch in order, all or those of a status."""
        query = given({"status": status})
        path = path_of("batches", batch_id, "items")
        while True:
            page = self._transport.ask_json("GET", path, query=query)
            yield from (read_record(BatchItem, item) for item in page["items"])
            if not page["has_more"]:
                return
            query["start_after"] = str(page["items"][-1]["index"])

    def save_result(
        self,
        batch_id: str,
        path: str | PathLike[str],
        *,
        progress: Callable[[int], object] = lambda _: None,
    ) -> Path:
        """Write the zip or the merged PDF of a batch to a file, which is there whole or not at all.

        `progress` is called with the bytes so far.
        """
        target = Path(path)
        partial = target.with_name(f"{target.name}.part")
        with (
            self._transport.stream("GET", path_of("batches", batch_id, "result")) as answer,
            partial.open("wb") as file,
        ):
            copy(answer, file, progress)
        return partial.replace(target)

    def cancel_batch(self, batch_id: str) -> None:
        """Stop a batch, whose finished PDFs can still be read, or remove one that has ended."""
        self._transport.ask("DELETE", path_of("batches", batch_id))

    def _wait(
        self,
        kind: type[Ending],
        path: str,
        timeout_seconds: float | None,
        progress: Callable[[Ending], object],
        every_seconds: float = LONGEST_WAIT,
    ) -> Ending:
        give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        record = read_record(kind, self._transport.ask_json("GET", path))
        progress(record)
        while not record.has_ended:
            seconds = min(every_seconds, LONGEST_WAIT)
            if give_up_at is not None:
                seconds = min(seconds, give_up_at - time.monotonic())
                if seconds <= 0:
                    break
            # The farm takes whole seconds and answers as soon as there is an end.
            query = {"wait": str(max(round(seconds), 1))}
            record = read_record(kind, self._transport.ask_json("GET", path, query=query))
            progress(record)
        return record


def _request(
    document: Document | None, options: RenderOptions, *, prefer: str | None = None
) -> RequestOptions:
    data = options.get("data")
    if (document is None) is (data is None):
        raise ValueError("give either a document or data")
    if document is None:
        document = Document(json.dumps(data).encode(), "application/json")
    query = {
        "template": options.get("template"),
        "flow": options.get("flow"),
        "filename": options.get("filename"),
    }
    headers = {
        "Content-Type": document.content_type,
        "Idempotency-Key": options.get("idempotency_key") or str(uuid.uuid4()),
        "Prefer": prefer,
    }
    return {
        "query": {**given(query), **_draft(options.get("draft", False))},
        "headers": given(headers),
        "body": document.body,
    }


def _draft(is_draft: bool) -> dict[str, str]:
    return {"draft": "true"} if is_draft else {}


def _rendered(pdf: bytes, told: Mapping[str, str]) -> Rendered:
    timings = {name: float(value) for name, value in _TIMING.findall(told.get("Server-Timing", ""))}
    return Rendered(
        pdf,
        pages=int(told["X-Page-Count"]),
        filename=_read_filename(told.get("Content-Disposition", "")),
        job_id=told["X-Job-Id"],
        timings=timings,
        warning_count=int(told.get("X-Warning-Count", "0")),
        warning_codes=tuple(filter(None, told.get("X-Warning-Codes", "").split(", "))),
    )


def _read_filename(disposition: str) -> str:
    """Give the file name of a disposition, the one for all languages before the plain one."""
    names = _FILENAME.findall(disposition)
    wide = next((unquote(name) for name, _ in names if name), None)
    return wide or next((name for _, name in names if name), "document.pdf")


@contextmanager
def _open_documents(
    documents: Iterable[Mapping[str, Any]] | str | PathLike[str],
) -> Iterator[tuple[BinaryIO, str]]:
    if isinstance(documents, str | PathLike):
        content_type = find_batch_type(Path(documents))
        with Path(documents).open("rb") as file:
            yield file, content_type
        return
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
        for payload in documents:
            spool.write(json.dumps(payload).encode() + b"\n")
        yield cast("BinaryIO", spool), "application/x-ndjson"


def find_batch_type(path: Path) -> str:
    """Give the content type of a file of documents by its suffix.

    Raises:
        ValueError: it is neither .csv nor .ndjson nor .jsonl.
    """
    types = {
        ".csv": "text/csv",
        ".ndjson": "application/x-ndjson",
        ".jsonl": "application/x-ndjson",
    }
    if path.suffix.lower() not in types:
        raise ValueError(f"{path}: documents of a batch are one of {', '.join(types)}")
    return types[path.suffix.lower()]
