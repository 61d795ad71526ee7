"""The routes under /v2/batches, and those of /v2/jobs that name a document of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from flask import Blueprint, Response, g, request
from werkzeug.routing import BaseConverter

from api.auth.guard import current_principal
from api.batches.accepting import accept_batch
from api.batches.archive import write_archive
from api.batches.request import read_batch_request, read_batches_query, read_items_query
from api.batches.views import write_item, write_item_job
from api.exchange import read_query, read_wait, write_json
from api.long_poll import long_poll, stopping
from api.pdf import DEFAULT_FILENAME, read_filename, write_disposition, write_warning_headers
from api.ports import Ports
from shared.batches.records import (
    Batch,
    BatchStatus,
    Counts,
    Item,
    ItemStatus,
    Output,
    find_item_of_job,
    is_batch_id,
    item_job_id,
)
from shared.blobs.store import BlobMissingError, Part
from shared.clock import now
from shared.db.batch_items import find_item, list_items
from shared.db.batches import (
    count_items,
    find_batch,
    has_running_chunk,
    list_batches,
    remove_batch,
    write_batch,
)
from shared.errors import ErrorKind, ServiceError
from shared.limits import KB

_ITEMS_A_PAGE: Final = 1000
_PIECE: Final = 256 * KB


class ItemJobId(BaseConverter):
    """Job ids of documents of batches, before any other job id."""

    regex = r"job_[a-z2-7]{24}-[0-9]{1,9}"
    weight = 50


class BatchRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("batches", __name__)
        routes.post("/v2/batches")(self.create)
        routes.get("/v2/batches")(self.list_batches)
        routes.get("/v2/batches/<batch_id>")(self.show)
        routes.delete("/v2/batches/<batch_id>")(self.delete)
        routes.get("/v2/batches/<batch_id>/items")(self.list_items)
        routes.get("/v2/batches/<batch_id>/result")(self.result)
        routes.get("/v2/jobs/<item_job:job_id>")(self.show_item)
        routes.get("/v2/jobs/<item_job:job_id>/pdf")(self.item_pdf)
        routes.delete("/v2/jobs/<item_job:job_id>")(self.cancel_item)
        return routes

    def create(self) -> Response:
        """Accept a batch: it is on record before it is answered."""
        asked = read_batch_request(request)
        batch = accept_batch(
            request, asked, current_principal(), self._ports, request_id=g.request_id
        )
        self._ports.cell(batch.account_id).batches.try_feed()
        waiting = Counts(queued=batch.total, running=0, succeeded=0, failed=0, pages=0)
        headers = {"Location": f"/v2/batches/{batch.id}"}
        return write_json(write_batch(batch, waiting), 202, headers=headers)

    def show(self, batch_id: str) -> Response:
        """Tell how far a batch is, at its end if it comes within the time to wait."""
        seconds = read_wait(read_query(request, ("wait",)))
        long_poll(
            lambda: self._get(batch_id),
            seconds=seconds,
            is_final=lambda batch: batch.status.is_final,
            wait=self._wait,
        )
        with self._ports.database.snapshot() as session:
            batch = self._find(session, batch_id)
            counts = count_items(session, batch)
        return write_json(write_batch(batch, counts))

    def list_batches(self) -> Response:
        """List the account's batches, newest first."""
        account_id = current_principal().state.account_id
        asked = read_batches_query(request)
        with self._ports.database.snapshot() as session:
            found = list_batches(
                session,
                account_id,
                statuses=asked.statuses,
                limit=asked.limit + 1,
                start_after=asked.start_after,
            )
        shown = found[: asked.limit]
        body: dict[str, Any] = {"batches": [write_batch(*each) for each in shown]}
        if len(found) > asked.limit:
            body["next_cursor"] = shown[-1][0].id
        return write_json(body)

    def delete(self, batch_id: str) -> Response:
        """Cancel what is not begun; remove a batch that has ended, with what it gave."""
        read_query(request, ())
        batch = self._get(batch_id)
        if not batch.status.is_final:
            self._ports.cell(batch.account_id).batches.cancel(batch)
            return Response(status=204)
        with self._ports.database.session() as session:
            remove_batch(session, batch.id, at=now())
        return Response(status=204)

    def list_items(self, batch_id: str) -> Response:
        """List documents in input order."""
        asked = read_items_query(request)
        with self._ports.database.snapshot() as session:
            batch = self._find(session, batch_id)
            items, has_more = list_items(
                session, batch, after=asked.after, limit=_ITEMS_A_PAGE, status=asked.status
            )
        return write_json(
            {"items": [write_item(batch, item) for item in items], "has_more": has_more}
        )

    def result(self, batch_id: str) -> Response:
        """Send the zip, or the one PDF."""
        filename = read_filename(read_query(request, ("filename",)))
        with self._ports.database.snapshot() as session:
            batch = self._find(session, batch_id)
            is_at_work = has_running_chunk(session, batch.id)
        if batch.output is Output.FILES:
            raise ServiceError(
                409,
                "A batch of output=files has no result in one; each document is at "
                f"/v2/jobs/{{id}}/pdf, the first at /v2/jobs/{item_job_id(batch.id, 0)}/pdf.",
            )
        if not batch.status.is_final or is_at_work:
            raise ServiceError(409, f"The batch has not ended; it is {batch.status}.")
        if batch.is_expired(now()):
            raise _expired("result of this batch")
        if batch.output is Output.MERGED:
            return self._send_merged(batch, filename)
        headers = {
            "Content-Type": "application/zip",
            "Content-Disposition": write_disposition(
                filename or batch.id, kind="attachment", extension=".zip", default=f"{batch.id}.zip"
            ),
        }
        return Response(_started(write_archive(batch, self._ports)), 200, headers)

    def show_item(self, job_id: str) -> Response:
        """Tell how far a document is, at its end if it comes within the time to wait."""
        seconds = read_wait(read_query(request, ("wait",)))
        batch, item = long_poll(
            lambda: self._get_item(job_id),
            seconds=seconds,
            is_final=_is_item_final,
            # Only the end of the whole batch is announced, so a document is read each second.
            wait=lambda found, left: self._wait(found[0], min(left, 1.0)),
        )
        return write_json(write_item_job(batch, item))

    def item_pdf(self, job_id: str) -> Response:
        """Send the PDF of one document."""
        filename = read_filename(read_query(request, ("filename",)))
        batch, item = self._get_item(job_id)
        if item.status is not ItemStatus.SUCCEEDED:
            raise ServiceError(409, f"There is no PDF: the job is {item.status}.")
        if batch.output is Output.MERGED:
            raise ServiceError(
                409,
                "The documents of a batch of output=merged have no PDF of their own; the one of all "
                f"is at /v2/batches/{batch.id}/result.",
            )
        if batch.is_expired(now()) or item.part_key is None:
            raise _expired("PDF of this job")
        assert item.place is not None, "a success of its own has a place in its part"
        headers = {
            "Content-Type": "application/pdf",
            "Content-Length": str(item.place.length),
            "Content-Disposition": write_disposition(filename or item.filename or DEFAULT_FILENAME),
            "X-Page-Count": str(item.pages),
            "X-Job-Id": job_id,
            **write_warning_headers(item.warnings),
        }
        part = Part(item.place.offset, item.place.length)
        return Response(self._send(item.part_key, part), 200, headers)

    def cancel_item(self, job_id: str) -> Response:
        """Refuse: a document is cancelled with its batch."""
        read_query(request, ())
        batch, _ = self._get_item(job_id)
        raise ServiceError(
            409,
            "The job is a document of a batch and cannot be cancelled or removed by itself; cancel "
            f"the batch: DELETE /v2/batches/{batch.id}.",
        )

    def _wait(self, batch: Batch, seconds: float) -> None:
        endings = self._ports.cell(batch.account_id).batches.endings
        endings.wait(batch.id, seconds=seconds, until=stopping.is_set)

    def _get(self, batch_id: str) -> Batch:
        with self._ports.database.snapshot() as session:
            return self._find(session, batch_id)

    def _find(self, session: Any, batch_id: str) -> Batch:
        account_id = current_principal().state.account_id
        batch = None
        if is_batch_id(batch_id):
            batch = find_batch(session, batch_id, account_id=account_id)
        if batch is None:
            raise ServiceError(
                404, f"There is no batch {batch_id[:100]!r}.", kind=ErrorKind.NOT_FOUND
            )
        return batch

    def _get_item(self, job_id: str) -> tuple[Batch, Item]:
        named = find_item_of_job(job_id)
        account_id = current_principal().state.account_id
        with self._ports.database.snapshot() as session:
            batch = find_batch(session, named[0], account_id=account_id) if named else None
            item = find_item(session, batch, named[1]) if batch and named else None
        if batch is None or item is None:
            raise ServiceError(404, f"There is no job {job_id!r}.", kind=ErrorKind.NOT_FOUND)
        return batch, item

    def _send_merged(self, batch: Batch, filename: str | None) -> Response:
        if batch.status is BatchStatus.CANCELLED:
            raise ServiceError(
                409,
                "There is no PDF: the batch was cancelled, and documents are merged when all of "
                "them have ended. What was rendered before is kept by output=zip and files alone.",
            )
        if batch.error is not None:
            raise ServiceError(409, f"There is no PDF: {batch.error['message']}")
        if batch.result_key is None:
            raise ServiceError(409, "There is no PDF: no document of the batch succeeded.")
        headers = {
            "Content-Type": "application/pdf",
            "Content-Length": str(batch.result_bytes),
            "Content-Disposition": write_disposition(filename or f"{batch.id}.pdf"),
        }
        return Response(self._send(batch.result_key, None), 200, headers)

    def _send(self, key: str, part: Part | None) -> Iterator[bytes]:
        try:
            return _started(_read(self._ports, key, part))
        except BlobMissingError:
            raise _expired("result") from None


def _is_item_final(found: tuple[Batch, Item]) -> bool:
    batch, item = found
    return batch.status.is_final or item.status not in (ItemStatus.QUEUED, ItemStatus.RUNNING)


def _read(ports: Ports, key: str, part: Part | None) -> Iterator[bytes]:
    with ports.blobs.open(key, part=part) as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Fetch the first piece now, so that what fails there can still be said with a status."""
    return chain([next(pieces)], pieces)


def _expired(what: str) -> ServiceError:
    return ServiceError(410, f"The {what} has expired: it was kept for 24 hours.")
