"""The calls of a farm, as methods."""

from __future__ import annotations

import json
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, Unpack, cast
from urllib.parse import quote, unquote

from deploy.client.records import (
    Batch,
    BatchItem,
    Document,
    Job,
    Output,
    Rendered,
    RenderOptions,
)
from deploy.client.transport import RequestOptions, Transport, copy

Ending = TypeVar("Ending", Job, Batch)
Record = TypeVar("Record", Job, Batch, BatchItem)

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

    def check(self) -> str:
        """Give what the farm says of the key."""
        return str(self._transport.ask_json("GET", "/v2/authcheck")["status"])

    def usage(self, *, date: str | None = None) -> Mapping[str, Any]:
        """Give the usage report of the billing period that `date` lies in, or of this one."""
        answer = self._transport.ask_json("GET", "/v2/account/usage", query=_given({"date": date}))
        return cast("Mapping[str, Any]", answer)

    # --- one document

    def render(
        self, document: Document | None = None, **options: Unpack[RenderOptions]
    ) -> Rendered:
        """Render a document, or `data` into a template, and give the PDF."""
        return _rendered(*self._transport.ask("POST", "/v2/pdf", **_request(document, options)))

    def submit(self, document: Document | None = None, **options: Unpack[RenderOptions]) -> Job:
        """Have a document rendered while nobody waits for it."""
        request = _request(document, options, prefer="respond-async")
        return _record(Job, self._transport.ask_json("POST", "/v2/pdf", **request))

    def job(self, job_id: str) -> Job:
        """Give a job as it is now."""
        return _record(Job, self._transport.ask_json("GET", _path("jobs", job_id)))

    def wait(self, job_id: str, *, timeout_seconds: float | None = None) -> Job:
        """Give a job once it has ended, or as it is when the time is over."""
        return self._wait(Job, _path("jobs", job_id), timeout_seconds, lambda _: None)

    def pdf(self, job_id: str) -> Rendered:
        """Give the PDF of a job, also of one of a batch."""
        pdf, told = self._transport.ask("GET", _path("jobs", job_id) + "/pdf")
        return _rendered(pdf, told)

    def cancel(self, job_id: str) -> None:
        """Stop a job, or remove one that has ended."""
        self._transport.ask("DELETE", _path("jobs", job_id))

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
        return _record(Batch, answer)

    def batch(self, batch_id: str) -> Batch:
        """Give a batch as it is now."""
        return _record(Batch, self._transport.ask_json("GET", _path("batches", batch_id)))

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
        path = _path("batches", batch_id)
        return self._wait(Batch, path, timeout_seconds, progress, every_seconds)

    def items(self, batch_id: str, *, status: str | None = None) -> Iterator[BatchItem]:
        """Give the documents of a batch in order, all or those of a status."""
        query = _given({"status": status})
        path = _path("batches", batch_id) + "/items"
        while True:
            page = self._transport.ask_json("GET", path, query=query)
            yield from (_record(BatchItem, item) for item in page["items"])
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
            self._transport.stream("GET", _path("batches", batch_id) + "/result") as answer,
            partial.open("wb") as file,
        ):
            copy(answer, file, progress)
        return partial.replace(target)

    def cancel_batch(self, batch_id: str) -> None:
        """Stop a batch; what was rendered can still be read."""
        self._transport.ask("DELETE", _path("batches", batch_id))

    # --- templates and images

    def create_template(self, name: str, content: bytes) -> str:
        """Store a template and give its id."""
        answer = self._transport.ask_json(
            "POST",
            "/v2/templates",
            query={"name": name},
            headers={"Content-Type": "application/xml"},
            body=content,
        )
        return str(answer["id"])

    def replace_template(self, template_id: str, content: bytes) -> None:
        """Give a template new live content."""
        headers = {"Content-Type": "application/xml"}
        self._transport.ask("PUT", _path("templates", template_id), headers=headers, body=content)

    def publish(self, template_id: str, *, message: str = "") -> int:
        """Publish a template's live content and give the number of the version."""
        answer = self._transport.ask_json(
            "POST",
            _path("templates", template_id) + "/versions",
            headers={"Content-Type": "application/json"},
            body=json.dumps({"message": message}).encode(),
        )
        return int(answer["version"])

    def store_image(self, name: str, data: bytes) -> Mapping[str, Any]:
        """Store an image under a name, in place of one that has it; gives its record."""
        # The bytes decide the format, whatever is declared.
        headers = {"Content-Type": "image/png"}
        answer = self._transport.ask_json("PUT", _path("images", name), headers=headers, body=data)
        return cast("Mapping[str, Any]", answer)

    def _wait(
        self,
        kind: type[Ending],
        path: str,
        timeout_seconds: float | None,
        progress: Callable[[Ending], object],
        every_seconds: float = LONGEST_WAIT,
    ) -> Ending:
        give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        record = _record(kind, self._transport.ask_json("GET", path))
        progress(record)
        while not record.has_ended:
            seconds = min(every_seconds, LONGEST_WAIT)
            if give_up_at is not None:
                seconds = min(seconds, give_up_at - time.monotonic())
                if seconds <= 0:
                    break
            # The farm takes whole seconds and answers as soon as there is an end.
            query = {"wait": str(max(round(seconds), 1))}
            record = _record(kind, self._transport.ask_json("GET", path, query=query))
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
    query = {"template": options.get("template"), "flow": options.get("flow")}
    headers = {
        "Content-Type": document.content_type,
        "Idempotency-Key": options.get("idempotency_key") or str(uuid.uuid4()),
        "Prefer": prefer,
    }
    return {
        "query": {**_given(query), **_draft(options.get("draft", False))},
        "headers": _given(headers),
        "body": document.body,
    }


def _given(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _draft(is_draft: bool) -> dict[str, str]:
    return {"draft": "true"} if is_draft else {}


def _path(kind: str, name: str) -> str:
    return f"/v2/{kind}/{quote(name, safe='@')}"


def _record(kind: type[Record], answer: Mapping[str, Any]) -> Record:
    """Read a record; what a newer farm says beyond it is left out."""
    known = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in answer.items() if name in known})


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
