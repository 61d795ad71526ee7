"""The client class: renders, jobs and batches; other resources are attributes."""

from __future__ import annotations

import difflib
import json
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TypeVar, Unpack, cast
from urllib.parse import unquote

from pressroom_client.records import (
    Batch,
    BatchOptions,
    Document,
    Job,
    PreviewOptions,
    Rendered,
    RenderOptions,
)
from pressroom_client.resources import Fonts, Images, Keys, Slugs, Templates
from pressroom_client.schemas import BatchItem, Findings, FormReport, InvoiceReport, Preview
from pressroom_client.transport import RequestOptions, Transport, copy_body
from pressroom_client.webhooks import Destinations, Webhooks

Ending = TypeVar("Ending", Job, Batch)

MAX_WAIT_SECONDS: Final = 60.0  # of one request; longer waits are several
_SPOOL_BYTES: Final = 8 * 1024 * 1024
_TIMING: Final = re.compile(r"([a-z]+);dur=([0-9.]+)")
_FILENAME: Final = re.compile(r"filename\*=UTF-8''([^;]+)|filename=\"([^\"]*)\"")


class Pressroom:
    """A farm at a URL, with an API key. Thread-safe.

    Every method raises `ApiError` for an error response and `FarmUnreachable` without a response; both
    after `attempts` where a retry may help.
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
        self.destinations: Final = Destinations(self._transport)
        self.keys: Final = Keys(self._transport)

    def __enter__(self) -> Self:
        """Return the client; the block's end closes its connections."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close idle connections."""
        self.close()

    def close(self) -> None:
        """Close idle connections; a later call opens new ones."""
        self._transport.close()

    def check(self) -> str:
        """Return the farm's confirmation of the key."""
        return str(self._transport.request_json("GET", "authcheck")["status"])

    def usage(self, *, date: str | None = None) -> Mapping[str, Any]:
        """Return the usage report of the billing period of `date`, by default the current one."""
        return self._object("account", "usage", date=date)

    def usage_by_template(self, *, date: str | None = None, limit: int = 100) -> Mapping[str, Any]:
        """Return the usage of a billing period by template, most pages first."""
        return self._object("account", "usage", "templates", date=date, limit=str(limit))

    def costs(self, *, date: str | None = None, limit: int = 100) -> Mapping[str, Any]:
        """Return the processor time of a billing period, by day and by template."""
        return self._object("account", "costs", date=date, limit=str(limit))

    def usage_by_day(self, *, date: str | None = None) -> Mapping[str, Any]:
        """Return the pages of each day of the billing period of `date`, by default the current one."""
        return self._object("account", "usage", "days", date=date)

    def account(self) -> Mapping[str, Any]:
        """Return the account's plan and rate limit, and the user of the key."""
        return self._object("account")

    def is_alive(self) -> bool:
        """Return whether the front responds."""
        return bool(self._object("/healthz")["status"] == "alive")

    def parts(self) -> Mapping[str, str]:
        """Return the state of each part of the farm, `up` or `down`.

        Raises:
            ApiError: 503, the farm is not ready.
        """
        return cast("Mapping[str, str]", self._object("/readyz").get("parts", {}))

    def metrics(self) -> str:
        """Return the metrics of the front as Prometheus text."""
        return self._transport.request("GET", "/metrics")[0].decode()

    def description(self) -> Mapping[str, Any]:
        """Return the OpenAPI description of the interface."""
        return self._object("/docs/openapi.json")

    # --- one document

    def render(
        self, document: Document | str | bytes | None = None, **options: Unpack[RenderOptions]
    ) -> Rendered:
        """Render a document, or `data` into a template, and return the PDF."""
        return _read_rendered(
            *self._transport.request("POST", "pdf", **_request(document, options))
        )

    def render_invoice(
        self, document: Document | str | bytes | None = None, **options: Unpack[RenderOptions]
    ) -> bytes:
        """Render a document and return the XML of its electronic invoice; UBL contains the PDF.

        It has no idempotency key: a call that is repeated is rendered again, so this method repeats none whose
        answer was lost.
        """
        request = _request(document, options)
        request["headers"] = {
            **request["headers"],
            "Idempotency-Key": None,
            "Accept": "application/xml",
        }
        return self._transport.request("POST", "pdf", **request)[0]

    def validate(
        self, document: Document | str | bytes | None = None, **options: Unpack[RenderOptions]
    ) -> Findings:
        """Validate a document, or `data` in a template, without rendering it."""
        request = _request(document, options)
        request["headers"] = {**request["headers"], "Idempotency-Key": None}
        of_renders = dict.fromkeys(("filename", "draft", "deliver", "send_at", "subject"))
        request["query"] = {**request["query"], **of_renders}
        return self._transport.read(Findings, "POST", "validate", **request)

    def check_invoice(self, invoice: bytes | str) -> InvoiceReport:
        """Check a received electronic invoice, as PDF or XML, by the rules of its profile.

        Raises:
            ApiError: 400, it is not an invoice that can be checked.
        """
        return self._transport.read(
            InvoiceReport, "POST", "einvoices", "check", **_received(invoice)
        )

    def show_invoice(self, invoice: bytes | str, *, template: str | None = None) -> Rendered:
        """Return a PDF that shows a received electronic invoice, and what its check finds.

        Raises:
            ApiError: 400, it is not an invoice that can be read.
        """
        request = _received(invoice) | {"query": {"template": template}}
        return _read_rendered(*self._transport.request("POST", "einvoices", "render", **request))

    def extract_form(self, pdf: bytes) -> FormReport:
        """Return the fields of a filled-in form with their values.

        Raises:
            ApiError: 400, it is not a PDF with form fields that can be read.
        """
        headers = {"Content-Type": "application/pdf"}
        return self._transport.read(
            FormReport, "POST", "forms", "extract", headers=headers, body=pdf
        )

    def preview(self, template: str, **options: Unpack[PreviewOptions]) -> Preview:
        """Draw one page of a template, given as text or as a reference.

        Raises:
            ApiError: 409, a newer preview of the same session replaced it.
        """
        _check_options(options, PreviewOptions)
        fields = {name: value for name, value in options.items() if value is not None}
        asked = {"template": template, **fields}
        return self._transport.read(Preview, "POST", "preview", fields=asked)

    def submit(
        self, document: Document | str | bytes | None = None, **options: Unpack[RenderOptions]
    ) -> Job:
        """Render a document asynchronously and return its job."""
        request = _request(document, options, prefer="respond-async")
        return self._transport.read(Job, "POST", "pdf", **request)

    def jobs(self, *, status: str | None = None) -> Iterator[Job]:
        """Yield the account's recorded jobs, newest first, optionally those of one status."""
        return self._transport.read_pages(Job, "jobs", query={"status": status})

    def job(self, job_id: str) -> Job:
        """Return the current record of a job."""
        return self._transport.read(Job, "GET", "jobs", job_id)

    def wait(self, job_id: str, *, timeout_seconds: float | None = None) -> Job:
        """Wait until a job has ended and return it; after the timeout, return its current record."""
        return self._wait(Job, ("jobs", job_id), timeout_seconds, lambda _: None)

    def pdf(self, job_id: str, *, filename: str | None = None) -> Rendered:
        """Return the PDF of a job, or of a document of a batch; `filename` overrides the document's name."""
        query = {"filename": filename}
        return _read_rendered(*self._transport.request("GET", "jobs", job_id, "pdf", query=query))

    def cancel(self, job_id: str) -> None:
        """Cancel a job, or remove one that has ended."""
        self._transport.request("DELETE", "jobs", job_id)

    # --- many documents

    def submit_batch(
        self,
        template: str,
        documents: Iterable[Mapping[str, Any]] | str | PathLike[str],
        **options: Unpack[BatchOptions],
    ) -> Batch:
        """Render many documents: payloads, or a file of them (.ndjson, or .csv or .xlsx with one document per row).

        An iterable is written to a temporary file first, so that the request can be retried.

        Raises:
            ValueError: the file has another suffix.
        """
        _check_options(options, BatchOptions)
        plan, output = options.get("plan"), options.get("output", "files")
        query = _write_query(options) | {
            "template": template,
            "output": output if plan is None or output == "zip" else "merged",
        }
        with _open_documents(documents) as (file, content_type):
            headers = {"Content-Type": content_type, "Idempotency-Key": _find_key(options)}
            return self._transport.read(
                Batch, "POST", "batches", query=query, headers=headers, body=file
            )

    def batches(self, *, status: str | None = None) -> Iterator[Batch]:
        """Yield the account's batches, newest first, optionally those of one status."""
        return self._transport.read_pages(Batch, "batches", query={"status": status})

    def batch(self, batch_id: str) -> Batch:
        """Return the current record of a batch."""
        return self._transport.read(Batch, "GET", "batches", batch_id)

    def wait_batch(
        self,
        batch_id: str,
        *,
        timeout_seconds: float | None = None,
        progress: Callable[[Batch], object] = lambda _: None,
        every_seconds: float = MAX_WAIT_SECONDS,
    ) -> Batch:
        """Wait until a batch has ended and return it; after the timeout, return its current record.

        `progress` is called with the record at least every `every_seconds`.
        """
        return self._wait(Batch, ("batches", batch_id), timeout_seconds, progress, every_seconds)

    def items(self, batch_id: str, *, status: str | None = None) -> Iterator[BatchItem]:
        """Yield the documents of a batch in input order, optionally those of one status."""
        return self._transport.read_pages(
            BatchItem, "batches", batch_id, "items", query={"status": status}, key="index"
        )

    def save_result(
        self,
        batch_id: str,
        path: str | PathLike[str],
        *,
        progress: Callable[[int], object] = lambda _: None,
    ) -> Path:
        """Write the zip or the merged PDF of a batch to a file, atomically.

        `progress` is called with the bytes so far.
        """
        return self._save(("batches", batch_id, "result"), Path(path), progress)

    def batch_account(self, batch_id: str) -> Mapping[str, Any]:
        """Return what became of the documents of a batch: a sum that adds up, and the files of its plan."""
        return self._object("batches", batch_id, "account")

    def release(
        self, batch_id: str, *, documents: Sequence[int] | None = None, reason: str | None = None
    ) -> Mapping[str, Any]:
        """Release held documents of a run, all by default, and return its account."""
        return self._decide(batch_id, "release", documents=documents, reason=reason)

    def reject(
        self, batch_id: str, *, documents: Sequence[int] | None = None, reason: str | None = None
    ) -> Mapping[str, Any]:
        """Reject held documents of a run, all by default, and return its account."""
        return self._decide(batch_id, "reject", documents=documents, reason=reason)

    def reprint(self, batch_id: str, **wanted: Any) -> int:
        """Order a reprint of `documents`, or of a range from `first` to `last`, and return its number.

        The range is of indexes, or of a `unit`: `"sets"` of the run, or `"sheets"` of a `file`. With `copy`
        each page says that it is one. `save_run_file` writes the file `reprint-1` once it is there.
        """
        return int(self._decide(batch_id, "reprint", **wanted)["number"])

    def _decide(self, batch_id: str, what: str, **fields: Any) -> Mapping[str, Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        found: Mapping[str, Any] = self._transport.request_json(
            "POST", "batches", batch_id, what, fields=given
        )
        return found

    def save_run(
        self,
        batch_id: str,
        folder: str | PathLike[str],
        *,
        progress: Callable[[int], object] = lambda _: None,
    ) -> list[Path]:
        """Write the files of a batch with a plan to a folder, `001.pdf` or `001.zip` and on, and their index."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        files = self.batch_account(batch_id)["files"]
        saved = [
            self.save_run_file(
                batch_id, str(each["number"]), target / f"{each['number']:03}", progress=progress
            )
            for each in files
        ]
        saved.append(self._save(("batches", batch_id, "index"), target / "index", progress))
        return [each.replace(each.with_suffix(_find_kind(each))) for each in saved]

    def save_run_file(
        self,
        batch_id: str,
        name: str,
        path: str | PathLike[str],
        *,
        progress: Callable[[int], object] = lambda _: None,
    ) -> Path:
        """Write a file of a run: that of a number, `proof`, or `reprint-1` and on."""
        return self._save(("batches", batch_id, "files", name), Path(path), progress)

    def _save(self, path: Sequence[str], target: Path, progress: Callable[[int], object]) -> Path:
        partial = target.with_name(f"{target.name}.part")
        with self._transport.stream("GET", *path) as response, partial.open("wb") as file:
            copy_body(response, file, progress)
        return partial.replace(target)

    def put_plan(self, name: str, plan: Mapping[str, Any]) -> Mapping[str, Any]:
        """Store an output plan, and return it with its version."""
        stored: Mapping[str, Any] = self._transport.request_json("PUT", "plans", name, fields=plan)
        return stored

    def plan(self, name: str, *, version: int | None = None) -> Mapping[str, Any]:
        """Return an output plan, its newest version by default."""
        wanted = None if version is None else str(version)
        return self._object("plans", name, version=wanted)

    def plans(self) -> Sequence[Mapping[str, Any]]:
        """Return the output plans of the account, the newest version of each."""
        found: Sequence[Mapping[str, Any]] = self._object("plans")["plans"]
        return found

    def tag_plan(self, name: str, tag: str, version: int) -> None:
        """Create a tag of an output plan, or move it to another version."""
        self._transport.request_json("PUT", "plans", name, "tags", tag, fields={"version": version})

    def untag_plan(self, name: str, tag: str) -> None:
        """Remove a tag of an output plan."""
        self._transport.request("DELETE", "plans", name, "tags", tag)

    def erase_subject(self, key: str) -> Mapping[str, Any]:
        """Remove all jobs and batches that were sent with this `subject`, and return the receipt."""
        receipt: Mapping[str, Any] = self._transport.request_json(
            "DELETE", "subjects", query={"key": key}
        )
        return receipt

    def delete_plan(self, name: str) -> None:
        """Delete an output plan with all its versions."""
        self._transport.request("DELETE", "plans", name)

    def audit_log(self) -> Sequence[Mapping[str, Any]]:
        """Return the newest entries of the account's audit log."""
        found: Sequence[Mapping[str, Any]] = self._object("audit")["entries"]
        return found

    def cancel_batch(self, batch_id: str) -> None:
        """Stop a batch, whose finished PDFs can still be read, or remove one that has ended."""
        self._transport.request("DELETE", "batches", batch_id)

    def _object(self, *path: str, **query: str | None) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self._transport.request_json("GET", *path, query=query))

    def _wait(
        self,
        kind: type[Ending],
        path: Sequence[str],
        timeout_seconds: float | None,
        progress: Callable[[Ending], object],
        every_seconds: float = MAX_WAIT_SECONDS,
    ) -> Ending:
        give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        record = self._transport.read(kind, "GET", *path)
        progress(record)
        while not record.has_ended:
            seconds = min(every_seconds, MAX_WAIT_SECONDS)
            if give_up_at is not None:
                seconds = min(seconds, give_up_at - time.monotonic())
                if seconds <= 0:
                    break
            # The farm accepts whole seconds, and responds as soon as the status is final.
            query = {"wait": str(max(round(seconds), 1))}
            record = self._transport.read(kind, "GET", *path, query=query)
            progress(record)
        return record


def _received(invoice: bytes | str) -> dict[str, Any]:
    is_pdf = isinstance(invoice, bytes) and invoice[:1024].lstrip().startswith(b"%PDF-")
    media = "application/pdf" if is_pdf else "application/xml"
    return {"headers": {"Content-Type": media}, "body": invoice}


def _request(
    document: Document | str | bytes | None, options: RenderOptions, *, prefer: str | None = None
) -> RequestOptions:
    _check_options(options, RenderOptions)
    data = options.get("data")
    if document is not None and data is not None:
        raise ValueError("both a document and data were passed; accepted is one of them")
    if document is not None:
        sent = Document.of(document)
    elif data is not None:
        sent = Document(json.dumps(data), "application/json")
    else:
        raise ValueError("neither a document nor data was passed; one of them is needed")
    headers = {
        "Content-Type": sent.content_type,
        "Idempotency-Key": _find_key(options),
        "Prefer": prefer,
    }
    return {"query": _write_query(options), "headers": headers, "body": sent.body}


def _find_key(options: RenderOptions | BatchOptions) -> str:
    return options.get("idempotency_key") or str(uuid.uuid4())


def _write_query(options: RenderOptions | BatchOptions) -> dict[str, str | None]:
    """Return the options that are parameters of the address."""
    query: dict[str, Any] = {**options, "draft": "true" if options.get("draft") else None}
    return {name: query[name] for name in query if name not in ("data", "idempotency_key")}


def _check_options(options: Mapping[str, Any], accepted: type) -> None:
    """Check names that a type checker would: a misspelled `draft` is metered as production."""
    names = list(accepted.__annotations__)
    for unknown in options.keys() - set(names):
        near = difflib.get_close_matches(unknown, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"accepted are {', '.join(names)}"
        raise TypeError(f"unknown option {unknown!r}; {hint}")


def _read_rendered(pdf: bytes, headers: Mapping[str, str]) -> Rendered:
    timings = {
        name: float(value) for name, value in _TIMING.findall(headers.get("Server-Timing", ""))
    }
    return Rendered(
        pdf,
        pages=int(headers["X-Page-Count"]),
        filename=_read_filename(headers.get("Content-Disposition", "")),
        job_id=headers["X-Job-Id"],
        timings=timings,
        warning_count=int(headers.get("X-Warning-Count", "0")),
        warning_codes=tuple(filter(None, headers.get("X-Warning-Codes", "").split(", "))),
    )


def _read_filename(disposition: str) -> str:
    """Return the file name of a Content-Disposition; `filename*` takes precedence (RFC 6266, 4.3)."""
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
            if not isinstance(payload, Mapping):  # such as the names of the members of one payload
                raise TypeError(f"documents: got {payload!r:.60}; accepted are payloads")
            spool.write(json.dumps(payload).encode() + b"\n")
        yield cast("BinaryIO", spool), "application/x-ndjson"


def find_batch_type(path: Path) -> str:
    """Return the content type of a file of documents by its suffix.

    Raises:
        ValueError: the suffix is not that of CSV, XLSX or JSON lines.
    """
    types = {
        ".csv": "text/csv",
        ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ".ndjson": "application/x-ndjson",
        ".jsonl": "application/x-ndjson",
    }
    if path.suffix.lower() not in types:
        raise ValueError(f"{path}: unsupported suffix; accepted are {', '.join(types)}")
    return types[path.suffix.lower()]


def _find_kind(path: Path) -> str:
    """Return the suffix of a file of a run, or of its index."""
    kinds = {b"%": ".pdf", b"P": ".zip", b"{": ".ndjson", b"<": ".xml"}
    with path.open("rb") as file:
        return kinds.get(file.read(1), ".csv")
