"""A farm of two Redis servers: accounts live on one each, and one that is away is its own accounts' trouble."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from shared.auth.accounts import create_account
from shared.db.session import open_database
from shared.shards import find_shard, parse_shards, slot_of
from tests.system.conftest import Account
from tests.waiting import wait_until

pytestmark = pytest.mark.long

HELLO = '<document version="1"><flow><p>Hello</p></flow></document>'
TEMPLATE = b'<document version="1"><data><json>{"n": 0}</json></data><flow><p>{{ n }}</p></flow></document>'
XML = {"Content-Type": "text/xml"}
ASYNC = XML | {"Prefer": "respond-async"}
SHARDS = ("0", "1")


@pytest.fixture(scope="module")
def farm(tmp_path_factory) -> Iterator[LaunchedFarm]:
    settings = {
        "PRESSROOM_WORKER_CONCURRENCY": "1",
        "PRESSROOM_ENFORCE_RATE_LIMITS": "true",
        "PRESSROOM_API_PROCESSES": "2",
        "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
    }
    folder = tmp_path_factory.mktemp("shards")
    with launched_farm(folder, shards=2, environment=settings) as farm:
        yield farm


@pytest.fixture(scope="module")
def residents(farm) -> dict[str, list[Account]]:
    """Return three accounts of each shard."""
    return open_accounts(farm, SHARDS, each=3)


def open_accounts(farm: LaunchedFarm, shards, *, each: int) -> dict[str, list[Account]]:
    database = open_database(farm.record.database_url)
    found: dict[str, list[Account]] = {shard: [] for shard in shards}
    while any(len(accounts) < each for accounts in found.values()):
        with database.session() as session:
            made = create_account(session, email="test@example.org", plan="paid")
        home = found[find_shard(slot_of(made.account_id), shards)]
        if len(home) < each:
            home.append(Account(farm, made.account_id, made.key_id, made.api_key))
    database.close()
    return found


@contextmanager
def server_of(farm: LaunchedFarm, shard: str) -> Iterator[redis.Redis]:
    url = {each.name: each.url for each in parse_shards(farm.record.redis_url)}[shard]
    with redis.Redis.from_url(url, socket_timeout=5) as client:
        yield client


@contextmanager
def stopped(farm: LaunchedFarm, shard: str) -> Iterator[None]:
    """Suspend a shard's server: it accepts connections and never answers."""
    pid = farm.folder.read_record().processes["redis" if shard == "0" else f"redis-{shard}"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def wait_for(account: Account, path: str, seconds: int = 30):
    return account.request("GET", f"{path}?wait={seconds}").json


def test_accounts_are_served_where_they_live(farm, residents):
    for _ in range(2):
        for account in [*residents["0"], *residents["1"]]:
            assert account.render(HELLO).status == 200
    for shard, accounts in residents.items():
        other = "1" if shard == "0" else "0"
        with server_of(farm, shard) as home, server_of(farm, other) as elsewhere:
            for account in accounts:
                assert home.keys(f"usage:{account.id}:*")
                assert not elsewhere.keys(f"*{account.id}*")
    for account in [*residents["0"], *residents["1"]]:
        assert account.settled_usage(pages=2)["pagesGenerated"] == 2


@pytest.mark.parametrize("shard", SHARDS)
def test_recorded_jobs_end_on_every_shard_and_are_notified(farm, residents, serve, shard):
    account = residents[shard][0]
    receiver = serve(b"HTTP/1.1 204 Taken\r\n\r\n")
    hook = {"url": receiver.url(), "events": ["job.succeeded", "batch.finished"]}
    hooked = account.request(
        "POST",
        "/v2/webhooks",
        json.dumps(hook).encode(),
        headers={"Content-Type": "application/json"},
    )
    assert hooked.status == 201
    before = account.usage()["pagesGenerated"]
    job = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC)
    assert job.status == 202
    assert wait_for(account, job.headers["Location"])["status"] == "succeeded"
    pdf = account.request("GET", job.headers["Location"] + "/pdf")
    assert pdf.body.startswith(b"%PDF")
    keyed = [
        account.request("POST", "/v2/pdf", HELLO.encode(), headers=XML | {"Idempotency-Key": "k-1"})
        for _ in range(2)
    ]
    assert [each.status for each in keyed] == [200, 200]
    assert keyed[0].headers["X-Job-Id"] == keyed[1].headers["X-Job-Id"]
    template = account.store_template(TEMPLATE)
    lines = "\n".join(json.dumps({"n": n}) for n in range(30))
    batch = account.request(
        "POST",
        f"/v2/batches?template={template}&output=merged",
        lines.encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert batch.status == 202
    ended = wait_for(account, batch.headers["Location"])
    assert (ended["status"], ended["succeeded"]) == ("finished", 30)
    result = account.request("GET", batch.headers["Location"] + "/result")
    assert result.body.startswith(b"%PDF")
    told = ("job.succeeded", "batch.finished")
    wait_until(lambda: all(any(event.encode() in r for r in receiver.requests) for event in told))
    assert account.settled_usage(pages=before + 32)["pagesGenerated"] == before + 32


def test_a_revoked_key_is_refused_at_once_on_every_shard(farm, residents):
    for accounts in residents.values():
        account = accounts[2]
        made = farm.command("key", "create", account.id)
        second = Account(farm, account.id, made["key_id"], made["api_key"])
        # So often that every front process has met it.
        assert {second.request("GET", "/v2/authcheck").status for _ in range(8)} == {200}
        farm.command("key", "revoke", made["key_id"])
        assert {second.request("GET", "/v2/authcheck").status for _ in range(8)} == {401}


def test_an_operator_sees_and_drains_all_shards(farm, residents):
    found = farm.command("status")
    assert found["problems"] == []
    assert {store for store in found["stores"] if "redis" in store} == {"redis_0", "redis_1"}
    takes = Counter((worker["shard"], *worker["queues"]) for worker in found["workers"])
    pools = [("interactive", "preview", "validate"), ("batch",)]
    assert takes == {(shard, *queues): 1 for shard in SHARDS for queues in pools}
    farm.command("queue", "drain", "interactive", "--wait", "20")
    try:
        queues = farm.command("status")["queues"]
        drained = {(each["shard"], each["name"]) for each in queues if each["drained_since"]}
        assert drained == {("0", "interactive"), ("1", "interactive")}
        for accounts in residents.values():
            assert accounts[2].render(HELLO).status == 503
    finally:
        farm.command("queue", "resume", "interactive")
    # So often that every front process knows it.
    wait_until(
        lambda: all(
            accounts[2].render(HELLO).status == 200
            for accounts in residents.values()
            for _ in range(8)
        )
    )


@pytest.mark.parametrize("shard", SHARDS)
def test_an_unavailable_shard_affects_only_its_own_accounts(farm, residents, shard):
    other = "1" if shard == "0" else "0"
    theirs = Account(farm, *open_facts(residents[shard][2]))
    ours = residents[other][2]
    for account in (theirs, ours):
        assert {account.render(HELLO).status for _ in range(8)} == {200}
    failed: list[tuple[int, str | None]] = []
    served = 0
    is_over = threading.Event()

    def suffer() -> None:
        while not is_over.is_set():
            answer = theirs.render(HELLO)
            failed.append((answer.status, answer.headers["Retry-After"]))

    # More than the front has threads, were each of them to wait for its patience's end.
    threads = [threading.Thread(target=suffer) for _ in range(80)]
    with stopped(farm, shard):
        for thread in threads:
            thread.start()
        time.sleep(1.0)
        give_up_at = time.monotonic() + 8
        while time.monotonic() < give_up_at or served < 9:
            answer = ours.render(HELLO)
            assert answer.status == 200, answer.body
            served += 1
        ready = ours.request("GET", "/readyz")
        is_over.set()
        for thread in threads:
            thread.join()
    assert {status for status, _ in failed} == {503}
    assert all(retry_after for _, retry_after in failed)
    assert (ready.status, ready.json["status"]) == (200, "partly ready")
    assert ready.json["parts"][f"queue {shard}"] == "down"
    wait_until(lambda: theirs.render(HELLO).status == 200)
    wait_until(lambda: has_no_problems(farm))


def has_no_problems(farm: LaunchedFarm) -> bool:
    """Return whether `pressroom status` finds nothing wrong; its exit code is 1 otherwise."""
    try:
        return farm.command("status")["problems"] == []
    except subprocess.CalledProcessError:
        return False


def open_facts(account: Account) -> tuple[str, str, str]:
    return account.id, account.key_id, account.api_key


def test_jobs_accepted_without_their_shard_end_after_its_return(farm, residents):
    account = residents["1"][0]
    assert account.render(HELLO).status == 200
    job = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC)
    pid = farm.folder.read_record().processes["redis-1"]
    os.kill(pid, signal.SIGKILL)

    def has_ended() -> bool:
        answer = account.request("GET", job.headers["Location"])
        assert answer.status in (200, 503)
        return answer.status == 200 and answer.json["status"] == "succeeded"

    wait_until(has_ended)


@pytest.mark.long
def test_a_farm_grows_and_shrinks_and_loses_nothing(tmp_path: Path):
    settings = {"PRESSROOM_WORKER_CONCURRENCY": "1"}
    accepted: list[tuple[str, str]] = []
    rendered = 0
    people: list[Account] = []
    for shards in (1, 2):
        with launched_farm(tmp_path, environment=settings, shards=shards) as farm:
            people = people or list(chain(*open_accounts(farm, SHARDS, each=3).values()))
            people = [Account(farm, *open_facts(each)) for each in people]
            assert len(parse_shards(farm.record.redis_url)) == shards
            farm.command("queue", "resume", "batch")
            for account in people:
                assert account.render(HELLO).status == 200
                rendered += 1
            for account, job_id in accepted:
                owner = next(each for each in people if each.id == account)
                assert wait_for(owner, f"/v2/jobs/{job_id}", 60)["status"] == "succeeded"
            accepted = []
            farm.command("queue", "drain", "batch", "--wait", "20")
            for account in people:
                sent = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC)
                assert sent.status == 202
                accepted.append((account.id, sent.json["id"]))
                rendered += 1
            # Nothing of the last seconds is in the ledger: its events are moved, or counted here.
            os.kill(farm.folder.read_record().processes["background"], signal.SIGSTOP)
            for account in people:
                assert account.render(HELLO).status == 200
                rendered += 1
            os.kill(farm.folder.read_record().processes["background"], signal.SIGKILL)
    with launched_farm(tmp_path, environment=settings, shards=1) as farm:
        farm.command("queue", "resume", "batch")
        people = [Account(farm, *open_facts(each)) for each in people]
        for account, job_id in accepted:
            owner = next(each for each in people if each.id == account)
            assert wait_for(owner, f"/v2/jobs/{job_id}", 60)["status"] == "succeeded"
        wait_until(lambda: pages_in(farm) >= rendered)
        assert pages_in(farm) == rendered
        for account in people:
            assert account.usage()["pagesGenerated"] == rendered // len(people)


def pages_in(farm: LaunchedFarm) -> int:
    engine = create_engine(farm.record.database_url)
    with engine.connect() as connection:
        pages = connection.execute(text("SELECT SUM(pages) FROM usage_ledger")).scalar()
    engine.dispose()
    return int(pages or 0)
