"""A whole farm does with RabbitMQ what it does with Redis alone: each kind of work, drains, kills, commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from deploy.embedded.demo.show import LaunchedFarm, launched_farm, pressroom
from shared.queue.amqp_queues import AmqpQueues
from shared.queue.names import QUEUES
from tests.rabbitmq import RabbitServer
from tests.system.test_batches import (  # noqa: F401 - run here once more
    test_a_batch_is_rendered_and_read_back,
    test_a_batch_under_way_is_cancelled,
)
from tests.system.test_operating import (  # noqa: F401 - run here once more
    drained,
    test_a_drained_queue_rejects_waited_requests_and_keeps_accepted_jobs,
)
from tests.system.test_previews import (  # noqa: F401 - run here once more
    author,
    test_a_newer_call_of_a_session_stops_the_older_in_its_worker,
)
from tests.system.test_renders import test_a_draft_is_marked_and_counts_as_draft  # noqa: F401 - run here once more
from tests.waiting import wait_until, within

HELLO = "<document version='1'><flow><p>Hello</p></flow></document>"


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory, rabbit: RabbitServer) -> Iterator[LaunchedFarm]:
    environment = {"PRESSROOM_BROKER_URL": rabbit.url}
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


def test_the_queues_are_those_of_the_broker(farm, account, rabbit):
    assert account.render(HELLO).status == 200
    assert all(head.waiting == 0 for head in AmqpQueues.connect(rabbit.url).read(QUEUES).values())
    listed = rabbit.run("list_queues", "name", "type", "consumers")
    for queue in QUEUES:
        assert [queue, "quorum", "1"] in [line.split() for line in listed.splitlines()]


def test_status_asks_the_broker(farm):
    shown = farm.command("status")
    assert shown["problems"] == []
    assert set(shown["stores"]) == {"broker", "redis", "database", "object_store"}
    assert [queue["name"] for queue in shown["queues"]] == list(QUEUES)
    assert {queue for worker in shown["workers"] for queue in worker["queues"]} == set(QUEUES)


def test_workers_are_inspected_and_controlled_by_celery(farm, account, rabbit):
    given = {
        **os.environ,
        "PRESSROOM_BROKER_URL": rabbit.url,
        "PRESSROOM_REDIS_URL": farm.record.redis_url,
        "PRESSROOM_DATABASE_URL": farm.record.database_url,
        "PRESSROOM_BLOB_URL": farm.record.blob_url,
    }
    celery = [sys.executable, "-m", "celery", "-A", "workers.farm.app"]
    asked = subprocess.run(
        [*celery, "inspect", "active_queues", "--json", "--timeout=20"],
        env=given, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    taken = [queue["name"] for each in json.loads(asked.stdout).values() for queue in each]
    assert sorted(taken) == sorted(QUEUES)


def test_an_unavailable_broker_is_named_and_responses_come_in_time(farm, account, rabbit):
    rabbit.kill()
    try:
        with within(5):
            refused = account.render(HELLO)
        assert refused.status == 503
        assert int(refused.headers["Retry-After"]) >= 1
        assert account.request("GET", "/readyz").json["data"]["down"] == ["queue"]
        assert account.request("GET", "/v2/account").status == 200
        status = subprocess.run(
            [*pressroom("status"), "--data", str(farm.folder.path), "--json"],
            capture_output=True, check=False,
        )  # fmt: skip
        shown = json.loads(status.stdout)
        assert status.returncode == 1
        assert [problem for problem in shown["problems"] if problem.startswith("the broker ")]
        assert shown["stores"]["redis"] is not None
    finally:
        rabbit.start()
    wait_until(lambda: account.render(HELLO).status == 200)
    assert account.request("GET", "/readyz").status == 200
