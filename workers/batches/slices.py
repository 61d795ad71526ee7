"""A slice: documents of a chunk, rendered for two seconds, each with its own result."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeVar

from shared.batches.chunk_results import StoredPart, cancel_chunk, commit_slice, start_slice
from shared.batches.csv_rows import InvalidRow
from shared.batches.plans import read_values
from shared.batches.records import Batch, Chunk, DocumentResult, Slice
from shared.blobs.store import BlobMissingError
from shared.clock import cpu_microseconds, epoch, now, ticks
from shared.errors import (
    ErrorBody,
    ErrorKind,
    Unavailable,
    full_disk_as_unavailable,
    retry_while_unavailable,
)
from shared.jobs.records import BodyKind
from shared.limits import MAX_DELIVERIES, MB
from shared.queue.slice_commits import Checkpoint, MissingCountersError, SliceStart, SliceStep
from shared.telemetry import metrics
from shared.telemetry.log import get_logger, log_context
from shared.telemetry.traces import Traces
from shared.usage.metering import Spent, allowance_exceeded, is_exhausted
from shared.usage.repository import find_totals
from shared.webhooks.destinations import find_paths
from workers.batches.documents import BatchContext, DocumentLimits, is_outage, open_documents
from workers.batches.writers import Writer, open_writer
from workers.render.budget import GARBAGE
from workers.render.failures import make_crash_error

T = TypeVar("T")

# Long enough that the overhead of a slice is 1 %, short enough for fairness between accounts.
SLICE_SECONDS: Final = 2.0
_MAX_BYTES: Final = 64 * MB
# The interval of reporting the position and checking for cancellation, which costs 2 % of rendering a
# document.
_STEP_SECONDS: Final = 0.1
_MAX_WAIT_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 0.5
# Collectors cannot store or show a trace of 100,000 documents: the first documents show the duration
# of one, further spans the failures.
_MOST_SPANS: Final = 20
_MOST_FAILED_SPANS: Final = 20

log: Final = get_logger(__name__)


def run_slice(task: Slice, context: BatchContext) -> None:
    """Run one delivery of a slice; a repeated delivery completes the slice or has no effect.

    Raises:
        Unavailable: a part of the farm is unavailable; maintenance publishes the slice again.
    """
    if context.render.clock is not None:
        context.render.clock.sync_if_due()
    with context.database.session() as session:
        started = start_slice(session, task, at=now())
    context.flow.try_enqueue_slices()
    if started is None:
        log.info("slice skipped", slice=task.name)
        context.queue.remove(task)
        return
    batch, chunk = started
    with (
        log_context(batch=batch.id, request=batch.request_id, account=batch.account_id),
        context.render.traces.span(
            "slice", parent=batch.traceparent, batch=batch.id, index=chunk.next_index
        ),
    ):
        try:
            _SliceRun(batch, chunk, context).run(task)
        except BlobMissingError:
            # The batch has ended: another run of this slice completed it.
            log.info("slice skipped, its body was deleted", slice=task.name)


@dataclass
class _SliceRun:
    batch: Batch
    chunk: Chunk
    context: BatchContext

    def __post_init__(self) -> None:
        self._limits = DocumentLimits(self.context)
        self._spans = _DocumentSpans(self.context.render.traces)

    def run(self, task: Slice) -> None:
        try:
            with full_disk_as_unavailable("worker"):
                self._run(task)
        except Unavailable:
            with suppress(Unavailable):
                self.context.commits.mark_stopped(self.chunk)  # the process did not crash
            raise

    def _run(self, task: Slice) -> None:
        begun_at = ticks()
        GARBAGE.collect()
        start = _retry(lambda: self.context.commits.begin(self.chunk))
        checkpoint = start.checkpoint or self._make(start)
        if checkpoint is None:
            self._cancel()
        else:
            with self.context.render.traces.span("commit", documents=len(checkpoint.results)):
                self._conclude(checkpoint)
        self.context.queue.remove(task)
        if not self._is_chunk_done(checkpoint):
            # The rest of the chunk is scheduled. A finished chunk leaves nothing new to schedule.
            self.context.flow.try_enqueue_slices()
        log.info(
            "slice ended",
            slice=task.name,
            documents=len(checkpoint.results) if checkpoint else 0,
            milliseconds=round((ticks() - begun_at) * 1000),
        )

    # --- rendering --------------------------------------------------------------------------------

    def _make(self, start: SliceStart) -> Checkpoint | None:
        """Render documents until the time is over, store the output and return the checkpoint.

        Return None if the batch was cancelled before the first document.
        """
        writer = _retry(lambda: open_writer(self.batch, self.context.render))
        try:
            with self._limits.active():
                ended, done_bytes = self._render_documents(writer, start)
        except BaseException:
            writer.discard()
            raise
        if not ended:
            writer.discard()
            return None
        if self._is_merged and _may_be_partial(ended[-1]):
            writer = self._render_again(ended)
        key, size = self._store(writer)
        return Checkpoint(self.chunk.done, done_bytes, key, size, tuple(writer.complete(ended)))

    def _find_paths(self) -> tuple[str, ...]:
        if self.batch.deliver_to is None:
            return ()
        with self.context.database.snapshot() as session:
            return find_paths(session, self.batch.deliver_to)

    def _render_documents(
        self, writer: Writer, start: SliceStart
    ) -> tuple[list[DocumentResult], int]:
        ended: list[DocumentResult] = []
        done_bytes = self.chunk.done_bytes
        for end, outcome in self._render_all(writer, start):
            ended.append(outcome)
            done_bytes = self.chunk.done_bytes + end
            if self._is_merged and _may_be_partial(outcome):
                break
        return ended, done_bytes

    @property
    def _is_merged(self) -> bool:
        return not self.batch.has_own_pdfs

    def _render_all(
        self, writer: Writer, start: SliceStart
    ) -> Iterator[tuple[int, DocumentResult]]:
        stop_at = ticks() + SLICE_SECONDS
        step_at = 0.0
        mailed = _retry(self._find_paths)
        pages, spent = 0, 0
        over: Spent | None = None
        with open_documents(self.context.blobs, self.batch, self.chunk) as documents:
            for number, (end, document) in enumerate(documents):
                index = self.chunk.next_index + number
                deaths = start.deaths.get(index, 0)
                # A document that crashed a process before is rendered in a slice of its own.
                if number and (ticks() >= stop_at or writer.size >= _MAX_BYTES or deaths):
                    return
                if start.is_careful or ticks() >= step_at:
                    step_at = ticks() + _STEP_SECONDS
                    stepped = self._step(index, is_careful=start.is_careful)
                    if stepped.is_cancelled:
                        return
                    used = Spent(stepped.used.pages + pages, stepped.used.cpu_us + spent)
                    over = used if is_exhausted(self.batch.meter, used) else None
                if over is not None:
                    yield (
                        end,
                        DocumentResult(
                            index, error=allowance_exceeded(self.batch.meter, over).body
                        ),
                    )
                    continue
                if deaths >= MAX_DELIVERIES:
                    yield end, DocumentResult(index, error=make_crash_error())
                    continue
                begun = cpu_microseconds()
                outcome = self._render(writer, index, document)
                if isinstance(outcome, ErrorBody):
                    if is_outage(outcome):
                        if number:
                            return
                        raise Unavailable("farm")
                    yield end, DocumentResult(index, error=outcome)
                else:
                    pages += outcome.pages
                    outcome = outcome.replace(cpu_us=cpu_microseconds() - begun)
                    spent += outcome.cpu_us
                    if mailed and not isinstance(document, InvalidRow):
                        outcome = outcome.replace(values=read_values(mailed, document))
                    yield end, outcome

    def _step(self, index: int, *, is_careful: bool) -> SliceStep:
        self._limits.pause()  # Redis may be unavailable for a while
        step = self.context.commits.step
        meter = self.batch.meter
        return _retry(lambda: step(self.chunk, meter, index=index, is_careful=is_careful))

    def _render(
        self, writer: Writer, index: int, document: bytes | InvalidRow
    ) -> DocumentResult | ErrorBody:
        if not self.context.render.traces.is_on:
            return self._limits.attempt(lambda: writer.add(index, document))
        begun_at = epoch()
        outcome = self._limits.attempt(lambda: writer.add(index, document))
        self._spans.note(index, outcome, begun_at=begun_at)
        return outcome

    def _render_again(self, ended: Sequence[DocumentResult]) -> Writer:
        """Merge the successful documents again.

        The PDF must not contain parts of documents that were interrupted or exceed the allowance.
        """
        writer = open_writer(self.batch, self.context.render)
        with (
            open_documents(self.context.blobs, self.batch, self.chunk) as documents,
            self._limits.active(),
        ):
            for outcome, (_, document) in zip(ended, documents, strict=False):
                if outcome.error is None and isinstance(
                    self._render(writer, outcome.index, document), ErrorBody
                ):
                    raise Unavailable("farm")  # it succeeded before
        return writer

    def _store(self, writer: Writer) -> tuple[str | None, int]:
        made = writer.close()
        if made is None:
            return None, 0
        stream, size = made
        key = f"batches/{self.batch.id}/parts/{self.chunk.next_index}-{secrets.token_hex(4)}"
        with stream, self.context.render.traces.span("store", bytes=size):
            _retry(lambda: self.context.blobs.put(key, _rewound(stream), size))
        return key, size

    # --- ending -----------------------------------------------------------------------------------

    def _conclude(self, checkpoint: Checkpoint) -> None:
        """Commit the usage of a slice and record its results; the next run completes an interrupted one."""
        committed = _retry(lambda: self._commit(checkpoint))
        if committed is None or committed.part_key != checkpoint.part_key:
            self._drop(checkpoint.part_key)  # another run committed first
        if committed is None:
            return
        part = StoredPart(committed.part_key, committed.part_bytes)
        if self._is_merged and committed.results != checkpoint.results:
            key, size = self._store(self._render_again(committed.results))
            self._drop(committed.part_key)
            part = StoredPart(key, size)
        _retry(lambda: self._record(committed, part))
        self._report_usage(committed)
        plan = self.batch.plan
        has_proof = plan is not None and self.chunk.next_index < (plan.hold.proof or 0)
        if has_proof or self._is_chunk_done(committed):
            with suppress(Unavailable):
                self.context.flow.finish(self.batch)

    def _is_chunk_done(self, checkpoint: Checkpoint | None) -> bool:
        return (
            checkpoint is not None and self.chunk.done + len(checkpoint.results) >= self.chunk.count
        )

    def _commit(self, checkpoint: Checkpoint) -> Checkpoint | None:
        meter = self.batch.meter
        try:
            return self.context.commits.commit(self.chunk, meter, checkpoint)
        except MissingCountersError:
            with self.context.database.snapshot() as session:
                totals = find_totals(session, meter.account_id, meter.period)
            self.context.admissions.seed_usage(meter.account_id, meter.period, totals)
            return self.context.commits.commit(self.chunk, meter, checkpoint)

    def _record(self, checkpoint: Checkpoint, part: StoredPart) -> None:
        with self.context.database.session() as session:
            commit_slice(
                session,
                self.chunk,
                checkpoint.results,
                part,
                done_bytes=checkpoint.done_bytes,
                at=now(),
            )

    def _report_usage(self, checkpoint: Checkpoint) -> None:
        observer, meter = self.context.render.observer, self.batch.meter
        for ended in checkpoint.results:
            result = ended.error.kind.value if ended.error else metrics.SUCCEEDED
            observer.count(metrics.RENDERS, self._kind, meter.allowance, result)
            if ended.error is None:
                observer.count(metrics.PAGES, self._kind, meter.allowance, amount=ended.pages)
        cursor = self.chunk.done + len(checkpoint.results)
        with suppress(Unavailable):
            self.context.commits.mark_recorded(self.chunk, cursor=cursor)

    @property
    def _kind(self) -> str:
        return (BodyKind.JSON if self.batch.head is None else BodyKind.CSV).value

    def _cancel(self) -> None:
        with self.context.database.session() as session:
            cancel_chunk(session, self.chunk)
        with suppress(Unavailable):
            self.context.commits.mark_stopped(self.chunk)

    def _drop(self, key: str | None) -> None:
        # Otherwise it is deleted with the batch.
        if key is not None:
            with suppress(Unavailable):
                self.context.blobs.delete(key)


def _may_be_partial(outcome: DocumentResult) -> bool:
    """Return whether a document failed during rendering, so that parts of it may be in the PDF."""
    return outcome.error is not None and outcome.error.kind in (
        ErrorKind.TIMEOUT,
        ErrorKind.RESOURCE,
        ErrorKind.INTERNAL,
    )


def _retry(work: Callable[[], T]) -> T:
    """Call `work` until its dependency is available, for a minute at most."""
    return retry_while_unavailable(
        work, seconds=_MAX_WAIT_SECONDS, pause_seconds=_RETRY_SECONDS, report=_report
    )


def _report(error: Unavailable) -> None:
    log.warning("slice waits", part=error.part, cause=repr(error.__cause__))


def _rewound(stream: BinaryIO) -> BinaryIO:
    stream.seek(0)
    return stream


class _DocumentSpans:
    """Spans of the first documents of a slice, and of the first failures after them."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._left = _MOST_SPANS
        self._failures_left = _MOST_FAILED_SPANS

    def note(self, index: int, outcome: DocumentResult | ErrorBody, *, begun_at: float) -> None:
        """Record the span of a document that has just ended, up to the limits."""
        has_failed = isinstance(outcome, ErrorBody)
        if self._left:
            self._left -= 1
        elif has_failed and self._failures_left:
            self._failures_left -= 1
        else:
            return
        result = outcome.kind.value if isinstance(outcome, ErrorBody) else metrics.SUCCEEDED
        self._traces.record_span(
            "document", begin=begun_at, end=epoch(), index=index, outcome=result
        )
