"""The same faults with RabbitMQ as the broker, and those of the broker itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.clients import Crowd, render_and_accept
from tests.faults.conftest import assert_sound
from tests.faults.farm import FaultyFarm, render_answers
from tests.faults.test_faults import test_workers_are_killed_every_two_seconds  # noqa: F401 - run here once more
from tests.faults.test_redis import assert_sound_in_time
from tests.rabbitmq import RabbitServer
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.services]

# RabbitMQ takes seconds to start, and Celery waits as long again before its next attempt.
BACK_SECONDS = 90


@pytest.fixture
def start(start: Callable[..., FaultyFarm], rabbit: RabbitServer) -> Callable[..., FaultyFarm]:
    """Provide a function that starts a farm on the broker."""
    return lambda **environment: start(PRESSROOM_BROKER_URL=rabbit.url, **environment)


def test_the_broker_dies_and_loses_its_files_under_load(start, scaled, rabbit) -> None:
    farm = start()
    template = farm.store_template()
    batch = farm.client().submit(template, scaled(3000))
    assert batch.status == 202

    harms: list[Callable[[], Any]] = [rabbit.kill, rabbit.lose_files]
    with Crowd(farm.client, clients=8, total=scaled(3000), act=render_and_accept):
        for harm in harms:
            time.sleep(1.5)
            harm()
            farm.faults += 1
            rabbit.start()
            wait_until(lambda: render_answers(farm), seconds=BACK_SECONDS)
    # No client waits past its budget, and most are served once the broker is back.
    assert {entry.status for entry in farm.history} <= {200, 202, 503, 504}
    assert farm.history.count(200, 202) > farm.history.count(503, 504) / 4
    state = farm.settle()
    assert all(status == "succeeded" for status, _ in state.jobs.values())
    assert state.batches[batch.batch_id or ""][0] == "finished"
    assert_sound(farm)


def test_redis_dies_and_is_emptied_beside_the_broker(start, scaled) -> None:
    farm = start()

    with Crowd(farm.client, clients=4, total=scaled(2000), act=render_and_accept):
        for harm in (lambda: farm.kill("redis"), farm.empty_redis):
            time.sleep(1.5)
            harm()
            wait_until(lambda: render_answers(farm))
    assert {entry.status for entry in farm.history} <= {200, 202, 503, 504}
    state = farm.settle()
    assert all(status == "succeeded" for status, _ in state.jobs.values())
    assert_sound_in_time(farm)
