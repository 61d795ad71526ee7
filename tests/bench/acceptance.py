"""Measure how many renders a second one front process accepts: `python -m tests.bench.acceptance`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from deploy.embedded.demo.show import LaunchedFarm
from shared.db.session import open_database
from shared.jobs.repository import count_unfinished_jobs
from tests.bench.demands import HEAD, at_least, show
from tests.bench.farm import farm_of
from tests.bench.front import measure_rates
from tests.postgresql import make_database, running_postgresql

MIN_ACCEPTED = 2000
BODY = b"<document><flow><h1>Hello</h1><p>From Pressroom.</p></flow></document>"
NOTE = """\
`Prefer: respond-async` to a front of one process, so on one core, with those who would take the jobs,
or maintain them, stopped; client, Redis and database share the machine. The best of five runs of
two seconds on 32 kept connections. What is accepted is in the database, and is counted there. A core
that the front has for itself would accept as many as its CPU time for one goes into a second."""


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    with running_postgresql() as postgresql:
        yield from _rows("SQLite", {})
        yield from _rows(
            "PostgreSQL", {"PRESSROOM_DATABASE_URL": make_database(postgresql, "accept")}
        )


def _rows(name: str, environment: dict[str, str]) -> Iterator[str]:
    chosen = {"PRESSROOM_API_PROCESSES": "1", "PRESSROOM_LOG_LEVEL": "INFO", **environment}
    with farm_of(**chosen) as farm, held_still(farm):
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        head = (
            f"POST /v2/pdf HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {made['api_key']}\r\n"
            f"Content-Type: text/xml\r\nPrefer: respond-async\r\nContent-Length: {len(BODY)}\r\n\r\n"
        )
        what, request = f"202 a second, {name}", head.encode() + BODY
        answers = yield from measure_rates(what, MIN_ACCEPTED, farm, request)
        yield at_least("the same, answered 202 and on record", count_kept(farm), answers, "")


@contextmanager
def held_still(farm: LaunchedFarm) -> Iterator[None]:
    """Stop the batch pool, and the process that would queue its jobs again, for the block's length."""
    groups = [farm.record.processes[name] for name in ("batch", "background")]
    for group in groups:
        os.killpg(group, signal.SIGSTOP)
    try:
        yield
    finally:
        for group in groups:
            os.killpg(group, signal.SIGKILL)


def count_kept(farm: LaunchedFarm) -> int:
    database = open_database(farm.record.database_url)
    with database.snapshot() as session:
        count = count_unfinished_jobs(session)
    database.close()
    return count


if __name__ == "__main__":
    show(measure())
