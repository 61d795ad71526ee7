"""A slice: as many of a chunk's documents as two seconds take, each ended for itself."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeVar

from shared.batches.csv_rows import Fault
from shared.batches.records import Batch, Chunk, Ended, Output, Slice
from shared.blobs.store import BlobMissingError
from shared.clock import epoch, now, ticks
from shared.db.batch_chunks import StoredPart, cancel_chunk, commit_slice, start_slice
from shared.db.usage import find_totals
from shared.errors import ErrorBody, ErrorKind, Unavailable, outwait, space_needed
from shared.jobs import BodyKind
from shared.limits import MAX_DELIVERIES, MB
from shared.metering import used_up
from shared.queue.charges import Begun, Journal, Stepped, UnseededError
from shared.telemetry import metrics
from shared.telemetry.log import get_logger, log_context
from shared.telemetry.totals import SUCCEEDED
from workers.farm.batches.bounds import DocumentBounds
from workers.farm.batches.desk import Desk
from workers.farm.batches.documents import is_outage, open_documents
from workers.farm.batches.presses import Press, open_press
from workers.farm.batches.spans import DocumentSpans
from workers.farm.budget import REMAINS
from workers.farm.failures import brought_worker_down
from workers.farm.run import Farm

T = TypeVar("T")

# Long enough that a slice's own cost is a hundredth, short enough that others have their turn.
SLICE_SECONDS: Final = 2.0
_MOST_BYTES: Final = 64 * MB
# How often a run says where it is, and hears of a cancellation: each time costs as much as a
# fiftieth of a document.
_SAY_EVERY_SECONDS: Final = 0.1
_OUTWAIT_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


def run_slice(asked: Slice, farm: Farm, desk: Desk) -> None:
    """Run one delivery of a slice; a repeated one completes or does nothing.

    Raises:
        Unavailable: a part of the farm is away; the keeper sends the slice again.
    """
    if farm.clock is not None:
        farm.clock.look_if_due()
    with desk.database.session() as session:
        started = start_slice(session, asked, at=now())
    desk.flow.try_feed()
    if started is None:
        log.info("slice skipped", slice=asked.name)
        desk.queue.forget(asked)
        return
    batch, chunk = started
    with (
        log_context(batch=batch.id, request=batch.request_id, account=batch.account_id),
        farm.traces.span("slice", parent=batch.traceparent, batch=batch.id, index=chunk.next_index),
    ):
        try:
            _SliceRun(batch, chunk, farm, desk).run(asked)
        except BlobMissingError:
            # Only of a batch that has ended: another run of this slice was its last.
            log.info("slice skipped, its body is gone", slice=asked.name)


@dataclass
class _SliceRun:
    batch: Batch
    chunk: Chunk
    farm: Farm
    desk: Desk

    def __post_init__(self) -> None:
        self._bounds = DocumentBounds(self.farm, self.desk.budget_seconds)
        self._spans = DocumentSpans(self.farm.traces)

    def run(self, asked: Slice) -> None:
        try:
            with space_needed("worker"):
                self._run(asked)
        except Unavailable:
            with suppress(Unavailable):
                self.desk.charges.leave(self.chunk)  # nobody died
            raise

    def _run(self, asked: Slice) -> None:
        begun_at = ticks()
        REMAINS.collect()
        begun = _outwait(lambda: self.desk.charges.begin(self.chunk))
        journal = begun.journal or self._make(begun)
        if journal is None:
            self._cancel()
        else:
            with self.farm.traces.span("commit", documents=len(journal.ended)):
                self._conclude(journal)
        self.desk.queue.forget(asked)
        if not self._is_chunk_done(journal):
            # What is left of it waits for its turn. Else there is nothing to feed that was not
            # there when this slice was taken.
            self.desk.flow.try_feed()
        log.info(
            "slice ended",
            slice=asked.name,
            documents=len(journal.ended) if journal else 0,
            milliseconds=round((ticks() - begun_at) * 1000),
        )

    # --- rendering --------------------------------------------------------------------------------

    def _make(self, begun: Begun) -> Journal | None:
        """Render documents until the time is over and store what came of them; None when the batch
        was cancelled before the first.
        """
        press = _outwait(lambda: open_press(self.batch, self.farm))
        try:
            with self._bounds.opened():
                ended, done_bytes = self._print(press, begun)
        except BaseException:
            press.discard()
            raise
        if not ended:
            press.discard()
            return None
        if self._is_merged and _may_be_half_printed(ended[-1]):
            press = self._print_again(ended)
        key, size = self._store(press)
        return Journal(self.chunk.done, done_bytes, key, size, tuple(ended))

    def _print(self, press: Press, begun: Begun) -> tuple[list[Ended], int]:
        ended: list[Ended] = []
        done_bytes = self.chunk.done_bytes
        for end, outcome in self._render_all(press, begun):
            ended.append(outcome)
            done_bytes = self.chunk.done_bytes + end
            if self._is_merged and _may_be_half_printed(outcome):
                break
        return ended, done_bytes

    @property
    def _is_merged(self) -> bool:
        return self.batch.output is Output.MERGED

    def _render_all(self, press: Press, begun: Begun) -> Iterator[tuple[int, Ended]]:
        stop_at = ticks() + SLICE_SECONDS
        say_at = 0.0
        pages = 0
        over: int | None = None
        with open_documents(self.desk.blobs, self.batch, self.chunk) as documents:
            for number, (end, document) in enumerate(documents):
                index = self.chunk.next_index + number
                deaths = begun.deaths.get(index, 0)
                # One that may end its process does so alone, with nothing else to lose.
                if number and (ticks() >= stop_at or press.size >= _MOST_BYTES or deaths):
                    return
                if begun.is_careful or ticks() >= say_at:
                    say_at = ticks() + _SAY_EVERY_SECONDS
                    stepped = self._step(index, is_careful=begun.is_careful)
                    if stepped.is_cancelled:
                        return
                    over = self._find_over(stepped.used + pages)
                if over is not None:
                    yield end, Ended(index, error=used_up(self.batch.meter, over))
                    continue
                if deaths >= MAX_DELIVERIES:
                    yield end, Ended(index, error=brought_worker_down())
                    continue
                outcome = self._render(press, index, document)
                if isinstance(outcome, ErrorBody):
                    if is_outage(outcome):
                        if number:
                            return
                        raise Unavailable("farm")
                    yield end, Ended(index, error=outcome)
                else:
                    pages += outcome.pages
                    yield end, outcome

    def _step(self, index: int, *, is_careful: bool) -> Stepped:
        self._bounds.pause()  # Redis may be away for a while
        step = self.desk.charges.step
        meter = self.batch.meter
        return _outwait(lambda: step(self.chunk, meter, index=index, is_careful=is_careful))

    def _render(self, press: Press, index: int, document: bytes | Fault) -> Ended | ErrorBody:
        if not self.farm.traces.is_on:
            return self._bounds.attempt(lambda: press.add(index, document))
        begun_at = epoch()
        outcome = self._bounds.attempt(lambda: press.add(index, document))
        self._spans.note(index, outcome, begun_at=begun_at)
        return outcome

    def _find_over(self, used: int) -> int | None:
        cap = self.batch.meter.cap
        return used if cap is not None and used >= cap else None

    def _print_again(self, ended: Sequence[Ended]) -> Press:
        """Merge anew the documents that succeeded: of one that was stopped in the middle, or is not
        paid for, nothing may stay in the PDF.
        """
        press = open_press(self.batch, self.farm)
        with (
            open_documents(self.desk.blobs, self.batch, self.chunk) as documents,
            self._bounds.opened(),
        ):
            for outcome, (_, document) in zip(ended, documents, strict=False):
                if outcome.error is None and isinstance(
                    self._render(press, outcome.index, document), ErrorBody
                ):
                    raise Unavailable("farm")  # it succeeded a moment ago
        return press

    def _store(self, press: Press) -> tuple[str | None, int]:
        made = press.close()
        if made is None:
            return None, 0
        stream, size = made
        key = f"batches/{self.batch.id}/parts/{self.chunk.next_index}-{secrets.token_hex(4)}"
        with stream, self.farm.traces.span("store", bytes=size):
            _outwait(lambda: self.desk.blobs.put(key, _rewound(stream), size))
        return key, size

    # --- ending -----------------------------------------------------------------------------------

    def _conclude(self, journal: Journal) -> None:
        """Charge a slice and record it: what is charged is recorded, now or by the next run."""
        held = _outwait(lambda: self._charge(journal))
        if held is None or held.part_key != journal.part_key:
            self._drop(journal.part_key)  # another run was first
        if held is None:
            return
        part = StoredPart(held.part_key, held.part_bytes)
        if self._is_merged and held.ended != journal.ended:
            key, size = self._store(self._print_again(held.ended))
            self._drop(held.part_key)
            part = StoredPart(key, size)
        _outwait(lambda: self._record(held, part))
        self._settle(held)
        if self._is_chunk_done(held):
            with suppress(Unavailable):
                self.desk.flow.finish(self.batch)

    def _is_chunk_done(self, journal: Journal | None) -> bool:
        return journal is not None and self.chunk.done + len(journal.ended) >= self.chunk.count

    def _charge(self, journal: Journal) -> Journal | None:
        meter = self.batch.meter
        try:
            return self.desk.charges.charge(self.chunk, meter, journal)
        except UnseededError:
            with self.desk.database.snapshot() as session:
                totals = find_totals(session, meter.account_id, meter.period)
            self.desk.admissions.seed_usage(meter.account_id, meter.period, totals)
            return self.desk.charges.charge(self.chunk, meter, journal)

    def _record(self, journal: Journal, part: StoredPart) -> None:
        with self.desk.database.session() as session:
            commit_slice(
                session,
                self.chunk,
                journal.ended,
                part,
                done_bytes=journal.done_bytes,
                at=now(),
            )

    def _settle(self, journal: Journal) -> None:
        tally, meter = self.farm.tally, self.batch.meter
        for ended in journal.ended:
            result = ended.error.kind.value if ended.error else SUCCEEDED
            tally.count(metrics.RENDERS, self._kind, meter.allowance.value, result)
            if ended.error is None:
                tally.count(metrics.PAGES, self._kind, meter.allowance.value, amount=ended.pages)
        cursor = self.chunk.done + len(journal.ended)
        with suppress(Unavailable):
            self.desk.charges.settle(self.chunk, tally.drain(), cursor=cursor)

    @property
    def _kind(self) -> str:
        return (BodyKind.JSON if self.batch.head is None else BodyKind.CSV).value

    def _cancel(self) -> None:
        with self.desk.database.session() as session:
            cancel_chunk(session, self.chunk)
        with suppress(Unavailable):
            self.desk.charges.leave(self.chunk)

    def _drop(self, key: str | None) -> None:
        # What is not deleted now goes with the batch.
        if key is not None:
            with suppress(Unavailable):
                self.desk.blobs.delete(key)


def _may_be_half_printed(outcome: Ended) -> bool:
    """Tell a document that was stopped anywhere from one that was refused."""
    return outcome.error is not None and outcome.error.kind in (
        ErrorKind.TIMEOUT,
        ErrorKind.RESOURCE,
        ErrorKind.INTERNAL,
    )


def _outwait(work: Callable[[], T]) -> T:
    """Do it when the part that it needs is back, if that is within a minute."""
    return outwait(work, seconds=_OUTWAIT_SECONDS, pause_seconds=_RETRY_SECONDS, report=_report)


def _report(error: Unavailable) -> None:
    log.warning("slice waits", part=error.part, cause=repr(error.__cause__))


def _rewound(stream: BinaryIO) -> BinaryIO:
    stream.seek(0)
    return stream
