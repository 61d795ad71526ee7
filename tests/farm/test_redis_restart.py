"""The Redis server is killed for real, in the middle of renders, and comes back on its files."""

from __future__ import annotations

import threading
import time

import pytest

from shared.errors import Unavailable

pytestmark = pytest.mark.faults


@pytest.fixture
def redis_url(own_redis):
    return own_redis.url


def test_a_render_survives_a_restart_of_redis(front, start_worker, own_redis):
    start_worker()
    front.render()
    job = front.send("sleep 2")
    threading.Timer(0.5, own_redis.kill).start()
    threading.Timer(1.5, own_redis.start).start()
    assert front.wait(job).pages == 1
    assert front.used() == (2, 2)
    assert front.events() == 2


def test_counts_survive_a_kill_of_redis(front, start_worker, own_redis):
    start_worker()
    for _ in range(20):
        front.render("pages 2")
    own_redis.kill()
    own_redis.start()
    assert front.used() == (40, 20)
    assert front.events() == 20
    assert front.render("pages 2").pages == 2


def test_a_dead_redis_is_told_within_five_seconds(front, own_redis):
    job = front.job()
    own_redis.kill()
    for call in (
        lambda: front.broker.publish(job),
        lambda: front.replies.abandon(job.id),
        lambda: front.wait(job),
    ):
        begun = time.monotonic()
        with pytest.raises(Unavailable):
            call()
        assert time.monotonic() - begun < 5


def test_a_render_answered_503_for_a_dead_redis_is_never_metered(
    front, start_worker, own_redis, wait_until
):
    start_worker()
    front.render()
    job = front.send("sleep 1", budget=30)
    threading.Timer(0.5, own_redis.kill).start()
    with pytest.raises(Unavailable):
        front.wait(job)
    own_redis.start()
    # The worker waited for Redis too, and commits now: nobody is waiting any more.
    wait_until(lambda: front.redis.hexists(f"job:{job.id}", "done"))
    assert front.replies.abandon(job.id).error.status == 503
    assert front.used() == (1, 1)
    assert front.events() == 1
