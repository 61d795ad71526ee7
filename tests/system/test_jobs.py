"""Jobs on record on the whole farm: its pools killed, its Redis emptied, its ledger exact."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator

import pytest

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from shared.queue.connection import connect

pytestmark = pytest.mark.faults

TWO_PAGES = "<document><flow><p>One</p><p break-before='page'>Two</p></flow></document>"
XML = {"Content-Type": "text/xml"}


@pytest.fixture(scope="module")
def faulty_farm(tmp_path_factory) -> Iterator[LaunchedFarm]:
    with launched_farm(tmp_path_factory.mktemp("jobs")) as farm:
        yield farm


@pytest.fixture
def account(faulty_farm, make_account):
    return make_account(faulty_farm, plan="paid")


def send(account, **headers: str):
    return account.request("POST", "/v2/pdf", TWO_PAGES.encode(), headers=XML | headers)


def test_async_jobs_survive_a_killed_pool_and_an_emptied_redis(faulty_farm, account):
    sent = [accept(account) for _ in range(40)]
    os.killpg(faulty_farm.folder.read_record().processes["batch"], signal.SIGKILL)
    sent += [accept(account) for _ in range(40)]
    with connect(faulty_farm.record.redis_url) as redis:
        redis.flushall()
    sent += [accept(account) for _ in range(20)]
    records = [wait_for_end(account, job_id) for job_id in sent]
    assert {record["status"] for record in records} == {"succeeded"}
    assert {record["pages"] for record in records} == {2}
    # What was lost of the usage stream is recorded a minute after the jobs' end.
    account.settled_usage(pages=2 * len(sent), seconds=120)
    usage = account.usage()
    assert (usage["pagesGenerated"], usage["apiCalls"]) == (2 * len(sent), len(sent))


def accept(account) -> str:
    answer = send(account, Prefer="respond-async")
    assert answer.status == 202
    job_id: str = json.loads(answer.body)["id"]
    return job_id


def wait_for_end(account, job_id: str) -> dict:
    for _ in range(4):
        record = json.loads(account.request("GET", f"/v2/jobs/{job_id}?wait=20").body)
        if record["status"] not in ("queued", "running"):
            return record
    raise AssertionError(record)


def test_a_render_with_a_key_is_got_again_from_another_front(faulty_farm, account):
    first = send(account, **{"Idempotency-Key": "letter-7"})
    assert first.status == 200
    front = faulty_farm.folder.read_record().processes["front"]
    os.killpg(front, signal.SIGKILL)
    again = send(account, **{"Idempotency-Key": "letter-7"})
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["X-Job-Id"] == first.headers["X-Job-Id"]
    account.settled_usage(pages=2)
    assert account.usage()["apiCalls"] == 1
