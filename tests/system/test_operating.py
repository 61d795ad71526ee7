"""An operator looks at a running farm and steers it by commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from deploy.embedded.demo.show import LaunchedFarm, launched_farm, pressroom, stop_farm
from tests.waiting import wait_until

pytestmark = pytest.mark.long

HELLO = '<document version="1"><flow><p>Hello</p></flow></document>'
ASYNC = {"Content-Type": "text/xml", "Prefer": "respond-async"}
QUEUES = ["interactive", "preview", "validate", "batch"]


def status(folder, *options):
    command = [*pressroom("status", *options), "--data", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def drained(farm: LaunchedFarm):
    """Drain queues, and resume them whatever happens."""
    names: list[str] = []

    def drain(name, *options):
        names.append(name)
        return farm.command("queue", "drain", name, *options)

    yield drain
    for name in names:
        farm.command("queue", "resume", name)
    # A front goes by what it read for a second, a worker looks every two.
    time.sleep(3)


def test_status_shows_a_whole_farm_on_one_screen(farm, account):
    assert account.render(HELLO).status == 200
    found = farm.command("status")
    assert found["problems"] == []
    assert found["farm"]["url"] == farm.record.url
    processes = {each["name"]: each for each in found["processes"]}
    assert set(processes) == set(farm.record.processes)
    assert all(each["memory_bytes"] > 1_000_000 for each in processes.values())
    assert [queue["name"] for queue in found["queues"]] == QUEUES
    takes = [worker["queues"] for worker in found["workers"]]
    assert sorted(takes) == [["batch"], ["interactive", "preview", "validate"]]
    assert set(found["stores"]) == {"redis", "database", "object_store"}
    assert all(store["milliseconds"] >= 0 for store in found["stores"].values())
    assert found["ledger"]["events_dead"] == 0
    text = status(farm.folder.path)
    assert text.returncode == 0
    assert "no problems" in text.stdout
    assert len(text.stdout.splitlines()) <= 50
    assert account.api_key not in text.stdout


def test_status_names_the_problems(tmp_path):
    with launched_farm(tmp_path / "farm") as farm:
        log = farm.folder.logs / "worker.log"
        line = {"timestamp": "2026-11-22T01:00:00Z", "level": "error", "event": "render given up"}
        with log.open("a") as file:
            file.write(json.dumps(line | {"cause": "crashed", "job_id": "job_1"}) + "\n")
        found = farm.command("status")
        assert found["last_errors"][-1]["event"] == "render given up"
        farm.folder.blobs.rename(tmp_path / "away")
        farm.folder.blobs.write_text("a file where the folder was")
        answer = status(farm.folder.path)
        assert answer.returncode == 1
        assert "PROBLEM: the object store does not respond" in answer.stdout
        farm.folder.blobs.unlink()
        (tmp_path / "away").rename(farm.folder.blobs)
        frozen = farm.record.processes["fetcher"]
        os.kill(frozen, signal.SIGSTOP)
        try:
            answer = status(farm.folder.path)
            assert "PROBLEM: process fetcher does not respond" in answer.stdout
        finally:
            os.kill(frozen, signal.SIGCONT)
        assert farm.command("status")["problems"] == []
        stop_farm(farm)
        answer = status(farm.folder.path, "--json")
        assert answer.returncode == 1
        assert json.loads(answer.stdout)["problems"] == ["the farm is not running"]
    nowhere = status(tmp_path / "nowhere")
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert "contains no farm" in nowhere.stderr
    assert not (tmp_path / "nowhere").exists()


def test_a_drained_queue_rejects_waited_requests_and_keeps_accepted_jobs(account, drained):
    assert drained("interactive", "--wait", "30")["drained"]
    drained("batch", "--wait", "30")
    refused = account.render(HELLO)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "30")
    assert refused.json["message"].startswith("No render can start at the moment")
    keyed = {"Content-Type": "text/xml", "Idempotency-Key": "once"}
    assert account.request("POST", "/v2/pdf", HELLO.encode(), headers=keyed).status == 503
    accepted = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC)
    assert accepted.status == 202
    path = f"/v2/jobs/{accepted.json['id']}"
    assert account.request("GET", f"{path}?wait=3").json["status"] == "queued"
    xml = {"Content-Type": "text/xml"}
    assert account.request("POST", "/v2/validate", HELLO.encode(), headers=xml).status == 200
    [batch] = [q for q in account.farm.command("status")["queues"] if q["name"] == "batch"]
    assert batch["waiting"] == 1
    assert batch["drained_since"]
    account.farm.command("queue", "resume", "batch")
    account.farm.command("queue", "resume", "interactive")
    assert account.request("GET", f"{path}?wait=20").json["status"] == "succeeded"
    # What was refused took no key: the same call is done as soon as its front knows.
    wait_until(
        lambda: account.request("POST", "/v2/pdf", HELLO.encode(), headers=keyed).status == 200
    )
    assert account.settled_usage(pages=2)["pagesGenerated"] == 2


def test_an_account_is_found_with_its_usage(farm, account):
    assert account.render(HELLO).status == 200
    account.settled_usage(pages=1)
    listed = {each["account_id"]: each for each in farm.command("account", "list")["accounts"]}
    assert listed[account.id]["plan"] == "paid"

    def counted():
        used = farm.command("account", "usage", account.id)
        assert used["production"]["pages_not_in_the_ledger_yet"] <= 1
        return used["production"]["pages"] == 1 and used

    used = wait_until(counted, pause=0.2)
    assert used["production"] == {
        "pages": 1,
        "renders": 1,
        "max_pages": 1000,
        "pages_not_in_the_ledger_yet": 0,
    }
    assert used in farm.command("account", "usage")["accounts"]
    before = farm.command("account", "usage", account.id, "--date", "2024-02-29")
    assert (before["period_start"], before["production"]["pages"]) == ("2024-02-01", 0)
