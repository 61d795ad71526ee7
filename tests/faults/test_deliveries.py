"""Destinations fail and deliverers are killed: each file arrives once under its name, or is told as undelivered."""

from __future__ import annotations

import io
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from threading import Lock
from typing import Any

import pytest
from sqlalchemy import func, select

from shared.auth.accounts import CreatedAccount, create_account
from shared.clock import now
from shared.db.tables import webhook_deliveries
from shared.webhooks.destinations import FileSource, enqueue_result
from tests.faults.gate import Gate
from tests.runs import keep_run
from tests.waiting import wait_until
from tests.webhooks.test_destinations import (
    Place,
    add_destination,
    finish_batch,
    https_place,
    s3_place,
    sftp_place,
)
from workers.webhooks.deliverer import GIVE_UP_AFTER

pytestmark = pytest.mark.faults

SHARE = 0.05  # of the attempts that fail
BODY = 4000
DELIVERERS = 2
SECONDS = 3600  # an attempt that fails for the fourth time is repeated after ten minutes


@pytest.fixture
def database_url(make_postgresql, migrated_postgresql) -> str:
    return make_postgresql(template=migrated_postgresql)


@dataclass
class Fate:
    """Decides which attempts fail, and counts them."""

    random: random.Random
    met: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def draw(self, *kinds: str) -> str | None:
        with self.lock:
            if self.random.random() >= SHARE:
                return None
            kind = self.random.choice(kinds)
            self.met[kind] += 1
            return kind

    def draw_bytes(self) -> float:
        """Return after how many bytes a connection breaks off: before, in or after the file, or never."""
        return inf if self.draw("broken off") is None else self.random.randrange(2 * BODY)


@pytest.fixture
def fate() -> Fate:
    return Fate(random.Random(5))


@pytest.fixture
def places(tmp_path, fate, host_key, trusted) -> Iterator[dict[str, Place]]:
    """Yield a place of each kind; connections to S3 and SFTP break off, and HTTPS fails by itself."""
    with ExitStack() as stack:
        https = https_place(tmp_path, trusted=trusted, draw=fate.draw)
        found = {"https": stack.enter_context(https)}
        for kind, make in (("s3", s3_place), ("sftp", sftp_place)):
            place = stack.enter_context(make(tmp_path / kind, host_key=host_key))
            scheme, _, rest = place.fields["url"].partition("127.0.0.1:")
            port, _, path = rest.partition("/")
            gate = stack.enter_context(Gate(int(port), draw=fate.draw_bytes))
            place.fields["url"] = f"{scheme}127.0.0.1:{gate.port}/{path}"
            found[kind] = place
        yield found


def order_old_jobs(outbox, blobs, account, destination, *, number) -> dict[str, bytes]:
    """Order files that are a day old: the first failure of each is the last."""
    ordered = {f"job_{index:05}.pdf": b"%%PDF of job %d" % index for index in range(number)}
    at = now() - GIVE_UP_AFTER
    with outbox.database.session() as session:
        for name, data in ordered.items():
            key = f"jobs/{name}"
            blobs.put(key, io.BytesIO(data), len(data))
            file = FileSource(key=key, size=len(data))
            enqueue_result(session, destination, file, job_id=name.removesuffix(".pdf"), at=at)
    return ordered


def show_deliveries(app, account: CreatedAccount, **asked: str) -> list[dict[str, Any]]:
    """Return the deliveries of an account as it sees them, page by page."""
    client, found = app.test_client(), []
    asked |= {"limit": "100"}
    while True:
        page = client.get(
            "/v2/deliveries",
            query_string=asked,
            headers={"Authorization": f"Bearer {account.api_key}"},
        ).json
        found += page["deliveries"]
        if not page["has_more"]:
            return found
        asked["start_after"] = found[-1]["id"]


def count_ended(outbox) -> Counter[str]:
    columns = webhook_deliveries.c
    query = select(columns.status, func.count()).group_by(columns.status)
    with outbox.database.snapshot() as session:
        return Counter(dict(session.execute(query).all()))


def test_deliveries_of_killed_processes_to_failing_destinations(
    places, fate, scaled, outbox, blobs, start_process, app
) -> None:
    number, kills = scaled(3000), scaled(30)
    accounts, expected = {}, {}
    with outbox.database.session() as session:
        for kind in (*places, "old"):
            accounts[kind] = create_account(session, email=f"{kind}@example.org")
    for kind, place in places.items():
        account = accounts[kind].account_id
        destination = add_destination(outbox, account, place.fields)
        batch = finish_batch(outbox, blobs, account, destination, documents=number, padding=BODY)
        job = batch.replace("batch_", "job_")
        expected[kind] = {
            f"{job}-{index}.pdf": b"%%PDF %d" % index + bytes(BODY)
            for index in range(number)
            if index != 1
        } | {f"{batch}.ndjson": None}
    old = accounts["old"].account_id
    destination = add_destination(outbox, old, places["https"].fields)
    expected["old"] = order_old_jobs(outbox, blobs, old, destination, number=scaled(1000))
    total = sum(map(len, expected.values()))

    random_moment = random.Random(6)
    running = [start_process() for _ in range(DELIVERERS)]
    for kill in range(1, kills + 1):
        wait_until(
            lambda wanted=total * kill // (kills + 1): count_ended(outbox)["delivered"] >= wanted,
            SECONDS,
            pause=0.2,
        )
        time.sleep(random_moment.random())
        killed = running.pop(random_moment.randrange(DELIVERERS))
        killed.kill()
        killed.wait()
        running.append(start_process())

    def is_over() -> bool:
        ended = count_ended(outbox)
        return ended["delivered"] + ended["failed"] == total

    wait_until(is_over, SECONDS, pause=0.5, explain=lambda: count_ended(outbox))
    told = tell_all(app, accounts, expected)
    check_places(places, expected, told)
    for each in show_deliveries(app, accounts["old"], status="failed"):
        answer = app.test_client().post(
            f"/v2/deliveries/{each['id']}/redeliver",
            headers={"Authorization": f"Bearer {accounts['old'].api_key}"},
        )
        assert answer.status_code == 202
    wait_until(lambda: count_ended(outbox) == {"delivered": total}, SECONDS, pause=0.5)
    assert tell_all(app, accounts, expected) == set()
    check_places(places, expected, set())
    assert sum(fate.met.values()) >= scaled(500) / 2, fate.met
    keep_run(
        "faults",
        "deliveries of killed processes to failing destinations",
        requests=total,
        done=total,
        faults=kills + sum(fate.met.values()),
    )


def tell_all(app, accounts, expected) -> set[str]:
    """Check that the deliveries shown to each account are those expected, and return the names of failed ones."""
    told = set()
    for kind, account in accounts.items():
        shown = show_deliveries(app, account)
        assert sorted(each["name"] for each in shown) == sorted(expected[kind])
        for each in shown:
            last = each["attempts"][-1]
            if each["status"] == "failed":
                assert last.get("error") or last["status"] >= 500, each
                told.add(each["name"])
            else:
                assert (each["status"], last["status"]) in {("delivered", 200), ("delivered", 201)}
    assert told <= expected["old"].keys()
    return told


def check_places(places, expected, told: set[str]) -> None:
    """Check that each place has each file once, with its bytes, but for those that its account is told of."""
    for kind, place in places.items():
        files = place.files()
        wanted = expected[kind] | (expected["old"] if kind == "https" else {})
        assert wanted.keys() - told <= files.keys() <= wanted.keys()
        for name, data in files.items():
            if name.endswith(".ndjson"):
                lines = [json.loads(line) for line in data.splitlines()]
                assert {line["file"] for line in lines if "file" in line} == (
                    expected[kind].keys() - {name}
                )
                assert Counter(line["status"] for line in lines) == {
                    "succeeded": len(lines) - 1,
                    "failed": 1,
                }
            else:
                assert data == wanted[name], name
        assert [*place.folder.rglob(".*")] == [] if place.folder else True
        assert {len(keys) for keys in place.keys.values()} <= {1}
        assert all(
            body == wanted[name]
            for name, bodies in place.received.items()
            for body in bodies
            if wanted[name] is not None
        )
