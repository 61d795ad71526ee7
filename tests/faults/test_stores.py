"""A store is away, or full: clean errors in time, nothing uncounted, and recovery by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.faults.clients import Client, Crowd
from tests.faults.conftest import assert_sound
from tests.faults.disks import fill, picture
from tests.faults.farm import FaultyFarm
from tests.faults.gate import Gate
from tests.postgresql import connect_postgresql
from tests.waiting import wait_until, within

pytestmark = pytest.mark.faults

AWAY_SECONDS = 10
# Too large for Redis: such a body crosses the object store.
LARGE = "<!--" + "x" * 5_000_000 + "-->"


@pytest.fixture
def gated(
    start, make_postgresql, rclone_url
) -> Iterator[Callable[[], tuple[FaultyFarm, Gate, Gate]]]:
    """Provide a function that starts a farm whose database and object store lie behind gates."""
    with ExitStack() as stack:

        def start_gated() -> tuple[FaultyFarm, Gate, Gate]:
            database_url = make_postgresql()
            database = stack.enter_context(Gate(urlsplit(database_url).port or 0))
            objects = stack.enter_context(Gate(urlsplit(rclone_url).port or 0))
            farm = start(
                PRESSROOM_DATABASE_URL=through(database_url, database),
                PRESSROOM_BLOB_URL=through(f"{rclone_url}/faults-{objects.port}", objects),
            )
            return farm, database, objects

        yield start_gated


def through(url: str, gate: Gate) -> str:
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{gate.port}"))


def use_everything(client: Client, number: int) -> None:
    if number % 10 == 3:
        entry = client.accept(number)
    elif number % 10 == 7:
        entry = client.render(number, text=LARGE)
    else:
        entry = client.render(number)
    if entry.status == 503:
        time.sleep(0.2)


def assert_clean_errors(farm: FaultyFarm) -> None:
    assert {entry.status for entry in farm.history} <= {200, 202, 503}
    refused = [entry for entry in farm.history if entry.status == 503]
    assert refused
    assert max(entry.ended - entry.started for entry in refused) <= 6


@pytest.mark.services
@pytest.mark.parametrize("part", ["database", "object store"])
def test_a_store_is_unavailable_for_ten_seconds(gated, scaled, part) -> None:
    farm, database, objects = gated()
    gate = database if part == "database" else objects
    batch = farm.client().submit(farm.store_template(), max(scaled(3000), 400))
    assert batch.status == 202
    with Crowd(farm.client, clients=6, total=scaled(3000), act=use_everything):
        time.sleep(1)
        gate.close()
        farm.faults += 1
        time.sleep(AWAY_SECONDS)
        gate.reopen()
        with within(10):
            wait_until(lambda: farm.client().accept(1).status == 202)
            wait_until(lambda: farm.client().render(1, text=LARGE).status == 200)
        time.sleep(1)
    assert_clean_errors(farm)
    assert_sound(farm)
    state = farm.read_state()
    assert {status for status, _ in state.jobs.values()} == {"succeeded"}
    status, total, items, _ = state.batches[batch.batch_id or ""]
    assert (status, items) == ("finished", {"succeeded": total})


@pytest.mark.services
@pytest.mark.long
def test_the_database_crashes_and_comes_back(start, make_postgresql, scaled) -> None:
    database_url = make_postgresql()
    farm = start(PRESSROOM_DATABASE_URL=database_url)
    batch = farm.client().submit(farm.store_template(), max(scaled(3000), 200))
    assert batch.status == 202

    def act(client: Client, number: int) -> None:
        entry = client.accept(number) if number % 3 else client.render(number)
        if entry.status == 503:
            time.sleep(0.2)

    with Crowd(farm.client, clients=6, total=scaled(3000), act=act):
        for _ in range(max(scaled(10), 2)):
            time.sleep(2)
            crash(urlsplit(database_url).port or 0)
            farm.faults += 1
            wait_until(lambda: farm.client().accept(1).status == 202)
    assert {entry.status for entry in farm.history} <= {200, 202, 503}
    assert_sound(farm)
    state = farm.read_state()
    assert {status for status, _ in state.jobs.values()} == {"succeeded"}
    assert state.batches[batch.batch_id or ""][0] == "finished"


def crash(port: int) -> None:
    """Kill a process of the server: it then ends all others, recovers, and takes connections again."""
    with suppress(psycopg.OperationalError), connect_postgresql(port) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)


def test_the_disk_of_the_blobs_is_full_for_a_while(start, small_disk) -> None:
    farm = start(PRESSROOM_BLOB_URL=f"file://{small_disk}/blobs")
    client = farm.client()
    data = [picture(number) for number in range(30)]
    uploads = [client.upload(f"image-{at}", each) for at, each in enumerate(data)]
    statuses = [entry.status for entry in uploads]
    stored = statuses.index(503)
    assert statuses[:stored] == [201] * stored
    assert set(statuses[stored:]) <= {201, 503}
    assert client.render(1).status == 200  # what needs no blob continues
    assert not list(farm.read_state().half_files)
    for at in range(stored):
        farm.client().ask("DELETE", f"/v2/images/image-{at}")
    wait_until(lambda: client.upload("again", data[0]).status == 201)
    listed = client.ask("GET", "/v2/images?limit=1000")
    assert listed["usage"]["count"] == len(listed["images"]) == statuses[stored:].count(201) + 1
    assert_sound(farm)


def test_the_disk_of_the_database_is_full_for_a_while(start, small_disk) -> None:
    farm = start(PRESSROOM_DATABASE_URL=f"sqlite:///{small_disk}/pressroom.sqlite3")
    client = farm.client()
    assert client.render(0).status == 200
    filler = fill(small_disk)
    entries = [client.render(number) for number in range(20)]
    entries += [client.accept(number) for number in range(200)]
    assert {entry.status for entry in entries[:20]} == {200}  # counted in the stream meanwhile
    assert {entry.status for entry in entries[20:]} <= {202, 503}
    assert entries[-1].status == 503
    filler.unlink()
    wait_until(lambda: client.accept(1).status == 202)
    assert_sound(farm)
