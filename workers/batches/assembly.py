"""The PDF of a merged batch, joined from the parts of its slices, and the files of a run."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from io import BufferedReader, BytesIO
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Final, cast

from msgspec.structs import replace

from shared.batches.decisions import (
    Reprint,
    add_proof,
    finish_decisions,
    give_up_decisions,
    is_proof_due,
    select_documents,
)
from shared.batches.plans import (
    MAX_FILES,
    Hold,
    Plan,
    RunFile,
    RunSet,
    Split,
    TooManyFilesError,
    arrange,
    find_covered,
)
from shared.batches.records import Batch, BatchOutput, ItemStatus
from shared.batches.repository import (
    BatchPart,
    begin_assembly_attempt,
    deliver_batch,
    fail_merged_batch,
    find_batch,
    finish_merged_batch,
    is_complete,
    list_parts,
    revert_assembly_attempt,
)
from shared.batches.runs import (
    INDEX_NUMBER,
    PROOF_NUMBER,
    RunItem,
    StoredFile,
    add_files,
    arrange_run,
    hold_sets,
    list_files,
    list_run_items,
    record_held,
    write_index,
)
from shared.blobs.store import BlobMissingError, BlobStore
from shared.clock import now
from shared.errors import ErrorBody, ErrorKind, ServiceError, Unavailable, full_disk_as_unavailable
from shared.queue.slice_commits import Assembly
from shared.telemetry.log import get_logger, log_context
from workers.batches.covers import Covers, render_covers
from workers.batches.documents import BatchContext
from workers.batches.packages import Packages, fill
from workers.batches.writers import make_options, read_plan_marks
from workers.engine.finish.merging import OtherPressError, Placement
from workers.engine.merged_pdf import join_parts, sort_parts

_PARTS_AT_ONCE: Final = 200
_MAX_ATTEMPTS: Final = 3
_MAX_KILLED: Final = 12  # attempts whose process was killed: by the documents, or with its worker
_PATIENCE: Final = timedelta(hours=24)  # during an outage; the same as for jobs
# With a missing part: the folder of the store may not be mounted.
_PATIENCE_WITH_MISSING: Final = timedelta(hours=1)

_Work = Callable[[Batch, BatchContext], None]

log: Final = get_logger(__name__)


def run_assembly(task: Assembly, context: BatchContext) -> None:
    """Join the PDF of a batch whose documents have all ended, and finish the batch; write the proof of a run
    before its end, and the files of decisions after it.

    Maintenance repeats a failed run, up to three attempts in total, one whose process was killed up to twelve, and
    for a day during an outage. Then the batch is finished without a PDF, with an error.

    Raises:
        Unavailable: a part of the farm is unavailable; maintenance publishes the task again.
    """
    with context.database.snapshot() as session:
        batch = find_batch(session, task.batch_id)
        work: _Work | None
        if batch is None or batch.output is not BatchOutput.MERGED:
            work = None
        elif batch.status.is_final:
            work = _write_decisions if batch.decisions > batch.arranged else None
        elif is_complete(session, batch.id):
            work = _assemble
        else:
            work = _write_proof if is_proof_due(session, batch) else None
    if batch is None or work is None:
        log.info("assembly skipped", batch=task.batch_id)
        context.queue.remove(task)
        return
    with log_context(batch=batch.id, request=batch.request_id, account=batch.account_id):
        if work is _write_proof:
            with full_disk_as_unavailable("worker"):
                _write_proof(batch, context)
        else:
            _try(work, batch, context)
    context.queue.remove(task)


def _try(work: _Work, batch: Batch, context: BatchContext) -> None:
    # Counted first, so that a crash counts as an attempt.
    with context.database.session() as session:
        this = begin_assembly_attempt(session, batch.id, at=now())
    if this is None:
        return
    if this.number > _MAX_KILLED:
        _give_up(batch, context, _failed(None))
        return
    try:
        with full_disk_as_unavailable("worker"):
            work(batch, context)
    except (TooManyFilesError, OtherPressError) as error:
        _give_up(batch, context, ErrorBody(400, str(error), ErrorKind.AUTHORING))
    except (Unavailable, BlobMissingError) as error:
        is_missing = isinstance(error, BlobMissingError)
        if now() - this.first_at >= (_PATIENCE_WITH_MISSING if is_missing else _PATIENCE):
            _give_up(batch, context, _failed(error))
            return
        with suppress(Unavailable), context.database.session() as session:
            revert_assembly_attempt(session, batch.id)
        if is_missing:
            raise Unavailable("object store") from error
        raise
    except Exception as error:  # noqa: BLE001 - attempts are limited for every error
        log.warning("assembly failed", attempt=this.number, cause=repr(error))
        of_cover = error.body if isinstance(error, ServiceError) else None
        if this.number >= _MAX_ATTEMPTS or (of_cover and of_cover.kind is ErrorKind.AUTHORING):
            _give_up(batch, context, of_cover or _failed(error))


def _give_up(batch: Batch, context: BatchContext, error: ErrorBody) -> None:
    with context.database.session() as session:
        if batch.status.is_final:
            give_up_decisions(session, batch)
            return
        finished = fail_merged_batch(session, batch.id, error=error, at=now())
    if finished is not None:
        context.flow.report_finished(finished)


def _failed(cause: Exception | None) -> ErrorBody:
    if isinstance(cause, MemoryError):
        message = (
            "The documents need more memory to be merged into one PDF than a render may use: send "
            "them in several batches, or with output=zip."
        )
        return ErrorBody(400, message, ErrorKind.RESOURCE)
    reference = secrets.token_hex(6)
    log.error("assembly failed permanently", reference=reference, exc_info=cause)
    message = (
        "The documents could not be merged into one PDF for a reason inside the service; "
        f"reference {reference}. Send them again, or with output=zip."
    )
    return ErrorBody(500, message, ErrorKind.INTERNAL)


def _assemble(batch: Batch, context: BatchContext) -> None:
    # Unnamed files, which the kernel deletes if this process is killed.
    with tempfile.TemporaryFile() as part, tempfile.TemporaryFile() as out:
        if batch.plan is None:
            key, size = _join(batch, context, part=part, out=out)
            files: Sequence[StoredFile] = ()
            items: Sequence[RunItem] = ()
        else:
            key, size = None, 0
            files, items = _write_run(batch, batch.plan, part, context)
    with context.database.session() as session:
        finished = finish_merged_batch(session, batch, result_key=key, result_bytes=size, at=now())
        if finished is not None:
            if batch.plan is not None:
                add_files(session, batch.id, files)
                record_held(session, batch, batch.plan, items)
            deliver_batch(session, finished, at=now())
    if finished is not None:
        context.flow.report_finished(finished)
        return
    # Another run finished it, or the batch was cancelled.
    _delete(files, context)
    if key:
        context.blobs.delete(key)


def _delete(files: Iterable[StoredFile], context: BatchContext) -> None:
    for file in files:
        context.blobs.delete(file.blob_key)
        if file.covers:
            context.blobs.delete(file.covers_key)


def _join(
    batch: Batch, context: BatchContext, *, part: BinaryIO, out: BinaryIO
) -> tuple[str | None, int]:
    parts = _fetch_parts(batch, context, part)
    first = next(parts, None)
    if first is None:
        return None, 0
    joined = (path for _, path in chain([first], parts))
    pages = join_parts(joined, out, options=make_options(batch))
    size = out.tell()
    out.seek(0)
    key = f"batches/{batch.id}/result-{secrets.token_hex(4)}"
    context.blobs.put(key, out, size)
    log.info("batch assembled", pages=pages, bytes=size)
    return key, size


def _write_decisions(batch: Batch, context: BatchContext) -> None:
    """Write what decisions on an ended run have released or reprint, and its index again."""
    assert batch.plan is not None
    with tempfile.TemporaryFile() as part:
        files, _ = _write_run(batch, batch.plan, part, context)
    with context.database.session() as session:
        used = finish_decisions(session, batch, files)
    _delete((file for file in files if file.blob_key not in used), context)


def _write_proof(batch: Batch, context: BatchContext) -> None:
    assert batch.plan is not None
    with context.database.snapshot() as session:
        items = list_run_items(session, batch.id)
    with tempfile.TemporaryFile() as part:
        writer = _RunWriter(batch, batch.plan, context, part, _find_rendered(items))
        for proof in writer.write_proof():
            with context.database.session() as session:
                is_used = add_proof(session, batch, proof)
            if not is_used:
                context.blobs.delete(proof.blob_key)


def _write_run(
    batch: Batch, plan: Plan, part: BinaryIO, context: BatchContext
) -> tuple[list[StoredFile], list[RunItem]]:
    """Store the files of a run that are not written yet and its index, and return them and its documents; each
    page is read once.

    Raises:
        TooManyFilesError: the plan makes too many files of the documents.
        OtherPressError, ServiceError: a cover cannot be made.
    """
    with context.database.snapshot() as session:
        items = list_run_items(session, batch.id)
        known = {file.number: file for file in list_files(session, batch.id)}
    if not batch.status.is_final:
        items = hold_sets(plan, items)
    writer = _RunWriter(batch, plan, context, part, _find_rendered(items))
    if plan.hold != Hold():
        arrange(plan, writer.items, with_held=True)  # held ones have to fit too
    files = arrange_run(batch, plan, items)
    places = _place_documents(plan, files)
    pending = [(number, file) for number, file in enumerate(files, 1) if number not in known]
    stored: list[StoredFile] = []
    for at in range(0, len(pending), MAX_FILES):
        group = pending[at : at + MAX_FILES]
        covers = {number: render_covers(batch, number, file, context) for number, file in group}
        for made in writer.write(group, places, covers.values()):
            stored.append(made)
            if made.covers:
                pdf = covers[made.number].pdf
                context.blobs.put(made.covers_key, BytesIO(pdf), len(pdf))
    for number, reprint in known.items():
        if reprint.request is not None and not reprint.blob_key:
            wanted = Reprint.of_builtins(reprint.request)
            chosen = select_documents(plan, files, wanted)
            sets = [
                RunSet(own, sum(plan.sheets_of(document.pages) for document in own))
                for file in files
                for each in file.sets
                if (own := [each for each in each.documents if each.index in chosen])
            ]
            file = RunFile(sets)
            there = known | {each.number: each for each in stored}
            again = [
                Covers(covered, _read(context.blobs, there[at].covers_key))
                for at, each in enumerate(files, 1)
                if not chosen.isdisjoint(covered := find_covered(plan, each))
            ]
            of_reprint = {
                document.index: replace(places[document.index], file=number, position=2 * at + 1)
                for at, document in enumerate(file.documents)
            }
            [made] = writer.write([(number, file)], of_reprint, again, is_copy=wanted.copy)
            stored.append(made.replace(request=reprint.request))
    if plan.hold.proof and not batch.status.is_final and PROOF_NUMBER not in known:
        stored += writer.write_proof()
    with tempfile.TemporaryFile() as index:
        write_index(index, batch, plan, files, items)
        stored.append(_store_file(batch, context, index, INDEX_NUMBER))
    log.info("run written", files=len(stored) - 1, documents=len(places))
    return stored, items


def _find_rendered(items: Sequence[RunItem]) -> list[RunItem]:
    return [item for item in items if item.status is ItemStatus.SUCCEEDED]


@dataclass(frozen=True, slots=True)
class _RunWriter:
    """Writes files of a run from the parts of its slices."""

    batch: Batch
    plan: Plan
    context: BatchContext
    part: BinaryIO
    items: Sequence[RunItem]

    def write(
        self,
        files: Sequence[tuple[int, RunFile]],
        places: Mapping[int, Placement],
        covers: Iterable[Covers] = (),
        *,
        is_copy: bool = False,
    ) -> list[StoredFile]:
        """Store files, each with its number, and return them; `places` are those of documents in files by number."""
        if self.plan.is_package:
            return self._write_packages(files, places)
        outs_by_number: dict[int | None, int] = {number: at for at, (number, _) in enumerate(files)}

        def place(index: int, pages: int) -> Placement:
            """Return the place of a document in the files that are written; made as late as it can be."""
            found = places.get(index)
            if found is None or found.file not in outs_by_number:
                return Placement(None, 0, pages)
            return replace(found, file=outs_by_number[found.file])

        of_parts: dict[int, list[RunItem]] = {}
        for first, group in groupby(self.items, key=attrgetter("part_first_index")):
            own = list(group)
            if any(place(item.index, 0).file is not None for item in own):
                of_parts[first] = own
        parts = (
            (path, [place(item.index, item.pages) for item in of_parts[found.first_index]])
            for found, path in _fetch_parts(self.batch, self.context, self.part, of_parts)
        )
        placed = [
            (each, [_before(place(index, 1)) for index in each.covered])
            for each in covers
            if each.pdf
        ]
        counts = Counter(place.file for _, own in placed for place in own)
        with ExitStack() as opened:
            outs = [opened.enter_context(tempfile.TemporaryFile()) for _ in files]
            pages = sort_parts(
                chain(parts, ((fill(self.part, BytesIO(each.pdf)), own) for each, own in placed)),
                outs,
                options=make_options(self.batch),
                is_duplex=self.plan.duplex,
                marks=read_plan_marks(self.plan),
                is_copy=is_copy,
            )
            return [
                _store_file(self.batch, self.context, out, number).replace(
                    documents=len(file.documents),
                    pages=pages[at] - counts[at] * self.plan.sides_of(1),
                    sheets=sum(each.sheets for each in file.sets),
                    covers=counts[at],
                    value=file.value,
                )
                for at, ((number, file), out) in enumerate(zip(files, outs, strict=True))
            ]

    def _write_packages(
        self, files: Sequence[tuple[int, RunFile]], places: Mapping[int, Placement]
    ) -> list[StoredFile]:
        wanted = {document.index for _, file in files for document in file.documents}
        parts = {item.part_first_index for item in self.items if item.index in wanted}
        stored = []
        with tempfile.TemporaryFile() as gathered:
            starts: dict[int, int] = {}
            for part, _ in _fetch_parts(self.batch, self.context, self.part, parts):
                starts[part.first_index] = gathered.tell()
                self.part.seek(0)
                shutil.copyfileobj(self.part, gathered, 256 * 1024)
            package = Packages(self.batch, self.plan, self.part, gathered, starts, places)
            for number, file in files:
                with tempfile.TemporaryFile() as out:
                    package.write(out, number, file)
                    stored.append(
                        _store_file(self.batch, self.context, out, number).replace(
                            documents=len(file.documents),
                            pages=sum(self.plan.sides_of(each.pages) for each in file.documents),
                            sheets=sum(each.sheets for each in file.sets),
                            value=file.value,
                        )
                    )
        return stored

    def write_proof(self) -> list[StoredFile]:
        """Store the proof, of the first documents in the order of the plan; there is none if all failed."""
        wanted = self.plan.hold.proof or 0
        first = [item for item in self.items if item.index < wanted]
        files = arrange(self.plan.replace(split=Split()), first, with_held=True)
        return self.write(
            [(PROOF_NUMBER, file) for file in files],
            _place_documents(self.plan, files, PROOF_NUMBER),
        )


def _before(place: Placement) -> Placement:
    """Return the place of the cover before a document."""
    return Placement(place.file, place.position - 1, 1, is_cover=True)


def _place_documents(
    plan: Plan, files: Sequence[RunFile], first_number: int = 1
) -> dict[int, Placement]:
    """Return the place of each document by its index in files by number, with the number and first sheet in the
    run of its set. Positions are odd: covers stand between.
    """
    places: dict[int, Placement] = {}
    odd = [
        *range(1, 2 * max((len(file.documents) for file in files), default=0), 2)
    ]  # of all files
    first, number = 1, 0
    for at, file in enumerate(files, first_number):
        positions = iter(odd)
        for each in file.sets:
            number += 1
            before, sheets, feeders = 0, each.sheets, each.feeders
            for document in each.documents:
                places[document.index] = Placement(
                    at, next(positions), document.pages, number, first, before, sheets, feeders
                )
                before += plan.sheets_of(document.pages)
            first += sheets
    return places


def _store_file(batch: Batch, context: BatchContext, out: BinaryIO, number: int) -> StoredFile:
    size = out.seek(0, os.SEEK_END)
    out.seek(0)
    digest = hashlib.file_digest(cast("BufferedReader", out), "sha256").hexdigest()
    out.seek(0)
    key = f"batches/{batch.id}/files/{number}-{secrets.token_hex(4)}"
    context.blobs.put(key, out, size)
    return StoredFile(number, key, size, digest, 0, 0, 0)


def _fetch_parts(
    batch: Batch, context: BatchContext, file: BinaryIO, wanted: Container[int] | None = None
) -> Iterator[tuple[BatchPart, Path]]:
    """Yield the parts, or those that begin at wanted documents, as files, one at a time: the next part
    overwrites the file.
    """
    after = -1
    while True:
        with context.database.snapshot() as session:
            parts = list_parts(session, batch.id, after=after, limit=_PARTS_AT_ONCE)
        if not parts:
            return
        for part in parts:
            if part.blob_key is not None and (wanted is None or part.first_index in wanted):
                with context.blobs.open(part.blob_key) as stream:
                    path = fill(file, stream)
                yield part, path
        after = parts[-1].first_index


def _read(blobs: BlobStore, key: str) -> bytes:
    with blobs.open(key) as stream:
        return stream.read()
