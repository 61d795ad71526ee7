"""The judge of a run: what clients saw, next to the ledger, the database, the queue and the blobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.faults.history import Entry

ENDED = {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class State:
    """The state of a farm after a run. `ledger` has (job id, pages) for each row.

    `jobs` has (status, pages) by id; `batches` (status, total, items by status, pages) by id.
    `totals` are the pages and calls that the account's totals say.
    """

    ledger: list[tuple[str, int]]
    totals: tuple[int, int]
    jobs: Mapping[str, tuple[str, int | None]] = field(default_factory=dict)
    batches: Mapping[str, tuple[str, int, Mapping[str, int], int]] = field(default_factory=dict)
    batch_items: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    half_files: tuple[str, ...] = ()
    broken_blobs: tuple[str, ...] = ()


def find_violations(history: Iterable[Entry], state: State) -> list[str]:
    """Return the guarantees that a run violated; none for a correct run."""
    entries = list(history)
    return [
        *_check_answers(entries),
        *_check_ledger(entries, state),
        *_check_accepted(entries, state),
        *_check_stores(state),
    ]


def _check_answers(entries: list[Entry]) -> Iterable[str]:
    for entry in entries:
        if entry.flaw:
            yield f"{entry.call} answered {entry.status}: {entry.flaw}"
    # A replay under an idempotency key names the same job again; the clients here send none.
    jobs = Counter(entry.job_id for entry in entries if entry.job_id)
    for job_id, count in jobs.items():
        if count > 1:
            yield f"{count} requests were answered with job {job_id}"


def _check_ledger(entries: list[Entry], state: State) -> Iterable[str]:
    rows = dict(state.ledger)
    if len(rows) != len(state.ledger):
        yield "a job is in the ledger twice"
    due = {entry.job_id: entry.pages for entry in entries if entry.status == 200 and entry.job_id}
    due |= {job: pages or 0 for job, (status, pages) in state.jobs.items() if status == "succeeded"}
    due |= state.batch_items
    for job_id, pages in due.items():
        if job_id not in rows:
            yield f"job {job_id} of {pages} pages was answered and not counted"
        elif rows[job_id] != pages:
            yield f"job {job_id} of {pages} pages was counted as {rows[job_id]}"
    # A connection that broke off has at most one row, if its render ended.
    stray = [job_id for job_id in rows if job_id not in due]
    broken = sum(entry.status is None and entry.call == "render" for entry in entries)
    if len(stray) > broken:
        yield f"{len(stray)} counted jobs were never answered, {broken} connections broke off"
    pages, calls = state.totals
    if (pages, calls) != (sum(rows.values()), len(rows)):
        yield f"the totals say {pages} pages in {calls} calls, the ledger {sum(rows.values())} in {len(rows)}"


def _check_accepted(entries: list[Entry], state: State) -> Iterable[str]:
    for entry in entries:
        if entry.status != 202:
            continue
        if entry.batch_id:
            yield from _check_batch(entry, state)
        elif entry.job_id not in state.jobs:
            yield f"accepted job {entry.job_id} is not on record"
        elif state.jobs[entry.job_id][0] not in ENDED:
            yield f"accepted job {entry.job_id} is still {state.jobs[entry.job_id][0]}"


def _check_batch(entry: Entry, state: State) -> Iterable[str]:
    found = state.batches.get(entry.batch_id or "")
    if found is None:
        yield f"accepted batch {entry.batch_id} is not on record"
        return
    status, total, items, pages = found
    if status not in {"finished", "cancelled"}:
        yield f"accepted batch {entry.batch_id} is still {status}"
    if total != entry.total:
        yield f"batch {entry.batch_id} of {entry.total} documents says {total}"
    if status == "finished" and sum(items.values()) != total:
        yield f"batch {entry.batch_id} of {total} documents has {sum(items.values())} that ended"
    counted = sum(
        count for job_id, count in state.batch_items.items() if _belongs(job_id, entry.batch_id)
    )
    if counted != pages:
        yield f"batch {entry.batch_id} says {pages} pages, its items {counted}"


def _belongs(job_id: str, batch_id: str | None) -> bool:
    return job_id.removeprefix("job_").rpartition("-")[0] == (batch_id or "").partition("_")[2]


def _check_stores(state: State) -> Iterable[str]:
    for queue, count in state.waiting.items():
        if count:
            yield f"{count} messages are left in {queue}"
    for name in state.half_files:
        yield f"half a file is left: {name}"
    for what in state.broken_blobs:
        yield f"a record names a blob that cannot be read: {what}"
