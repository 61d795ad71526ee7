"""Measure how long it takes to choose the next slice: `python -m tests.bench.feeding [--explain]`."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from sqlalchemy import Select, text

from shared.batches import slice_scheduling
from shared.batches.chunk_results import start_slice
from shared.batches.lifecycle import WINDOW
from shared.batches.records import Batch, BatchKind, BatchOutput, BatchStatus, split_into_chunks
from shared.batches.repository import add_batch, list_complete
from shared.batches.slice_scheduling import claim_slices, needs_slices
from shared.db.migrate import upgrade
from shared.db.session import Database, Session, open_database
from shared.identifiers import new_id
from shared.jobs.records import Allowance, Meter, PinnedTemplate
from shared.usage.repository import measure_backlog
from tests.bench.demands import HEAD, at_most, fact, not_measured
from tests.postgresql import NoPostgresqlError, make_database, running_postgresql

NOTE = """\
The time in which the database names the slice that is queued next, among many unfinished batches of 160
documents each, half of them begun; in the process that asks, its commit left out. A worker asks it with every
slice. Below that, what the maintenance process and the usage counter ask of the same tables every few seconds."""
SIZES = ((100, 10), (5_000, 50), (5_000, 5_000), (5_000, 1))
DOCUMENTS, DOCUMENT_BYTES = 160, 100
REPEATS = 40
_AT_ONCE = 500
_START = datetime(2026, 11, 23, tzinfo=UTC)


def main() -> None:
    """Print the table, or how both databases go about it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--explain", action="store_true", help="print the plans instead")
    asked = parser.parse_args()
    for line in explain() if asked.explain else measure():
        print(line, flush=True)


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    for batches, accounts in SIZES:
        of = f"{batches:,} unfinished batches of {accounts:,} account{'s' * (accounts > 1)}"
        with sqlite() as database:
            yield from _rows(database, batches, accounts, f"{of}, SQLite")
        try:
            with postgresql() as database:
                yield from _rows(database, batches, accounts, f"{of}, PostgreSQL")
        except NoPostgresqlError:
            yield not_measured(f"{of}, PostgreSQL", "≤ 5 ms", "apt-get install postgresql")


def explain() -> Iterator[str]:
    """Yield the query plans at 5,000 batches of 50 accounts."""
    for name, opened in (("SQLite", sqlite), ("PostgreSQL", postgresql)):
        with opened() as database:
            fill(database, batches=5_000, accounts=50)
            yield f"## {name}"
            for title, query in (
                ("whose turn it is", slice_scheduling.select_next(None)),
                ("how many slices wait", slice_scheduling.select_in_queue(None)),
            ):
                yield f"-- {title}"
                yield from _plan(database, query)


@contextmanager
def sqlite() -> Iterator[Database]:
    """Make an empty database in a file."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/farm.sqlite3"
        upgrade(url)
        with closing(open_database(url)) as database:
            yield database


@contextmanager
def postgresql() -> Iterator[Database]:
    """Make an empty database on a server of its own."""
    with running_postgresql() as port:
        url = make_database(port, "feeding")
        upgrade(url)
        with closing(open_database(url)) as database:
            yield database


def fill(database: Database, *, batches: int, accounts: int) -> None:
    """Accept batches and have the first chunk of every other one at work or done."""
    ids = [new_id("acc") for _ in range(accounts)]
    starts = array("q", range(0, DOCUMENTS * DOCUMENT_BYTES, DOCUMENT_BYTES))
    end = DOCUMENTS * DOCUMENT_BYTES
    for first in range(0, batches, _AT_ONCE):
        with database.session() as session:
            for number in range(first, min(first + _AT_ONCE, batches)):
                batch = make_batch(ids[number % accounts], _START + timedelta(seconds=number))
                add_batch(
                    session,
                    batch,
                    split_into_chunks(batch.id, starts, end=end, output=BatchOutput.ZIP),
                )
    for _ in range(batches // (2 * _AT_ONCE)):
        with database.session() as session:
            _work_off_some(session, _AT_ONCE)


def make_batch(account_id: str, at: datetime) -> Batch:
    """Make a batch as the front does."""
    meter = Meter(account_id, "2026-11-01", Allowance.PRODUCTION, None)
    return Batch(
        id=new_id("batch"),
        account_id=account_id,
        workspace_id=None,
        user_id="usr_bench",
        request_id="req_bench",
        status=BatchStatus.QUEUED,
        output=BatchOutput.ZIP,
        kind=BatchKind.NDJSON,
        head=None,
        is_draft=False,
        template="bench",
        pinned=PinnedTemplate("bench", 1, "f" * 64),
        meter=meter,
        total=DOCUMENTS,
        body_key=None,
        body_bytes=DOCUMENTS * DOCUMENT_BYTES,
        created_at=at,
    )


def _work_off_some(session: Session, most: int) -> None:
    at = datetime.now(UTC)
    for each in claim_slices(session, window=most, at=at):
        start_slice(session, each, at=at)
    session.execute(
        text(
            "UPDATE batch_chunks SET status = 'done', done = count, queued_at = NULL WHERE status = 'running'"
        )
    )


def _rows(database: Database, batches: int, accounts: int, of: str) -> Iterator[str]:
    fill(database, batches=batches, accounts=accounts)

    def look(session: Session) -> None:
        needs_slices(session, window=10**9, at=datetime.now(UTC))

    windows = count(WINDOW, WINDOW)  # what was queued before still waits

    def claim(session: Session) -> None:
        claim_slices(session, window=next(windows), at=datetime.now(UTC))

    yield at_most(f"finding it among {of}", time_of(database.snapshot, look), 5, "ms")
    queueing = time_of(database.session, claim)
    yield fact(f"queueing {WINDOW} slices of {of}", f"{queueing:.1f} ms")
    complete = time_of(database.snapshot, lambda session: list_complete(session, limit=20))
    yield fact(f"the batches whose documents have all ended, of {of}", f"{complete:.1f} ms")
    left = time_of(database.snapshot, measure_backlog)
    yield fact(f"how many documents are left of {of}", f"{left:.1f} ms")


def time_of(opened: Callable[..., object], act: Callable[[Session], object]) -> float:
    """Return the median milliseconds of an act, without opening and closing its unit of work."""
    times = []
    for _ in range(REPEATS):
        with opened() as session:  # type: ignore[attr-defined]
            begun = time.perf_counter()
            act(session)
            times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def _plan(database: Database, query: Select[object]) -> Iterator[str]:
    with database.snapshot() as session:
        compiled = query.compile(session, compile_kwargs={"literal_binds": True})
        is_sqlite = session.dialect.name == "sqlite"
        words = "EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN (ANALYZE, COSTS OFF) "
        for row in session.exec_driver_sql(words + str(compiled).replace("%", "%%")):
            yield str(row[-1])


if __name__ == "__main__":
    main()
