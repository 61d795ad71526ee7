"""The Redis server is killed for real, in the middle of renders, and comes back on its files."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from shared.errors import Unavailable
from shared.queue.names import INTERACTIVE
from tests.farm.conftest import Front
from tests.faults.gate import ReplyLosingGate
from tests.waiting import wait_until, within

pytestmark = pytest.mark.faults


@pytest.fixture
def redis_url(own_redis):
    return own_redis.url


def test_a_job_whose_queueing_was_not_confirmed_is_waited_for(
    front, start_worker, own_redis, request
):
    start_worker()
    front.render()
    gate = ReplyLosingGate(own_redis.port, trigger=b"LPUSH")
    request.addfinalizer(gate.close)
    behind = Front(f"redis://127.0.0.1:{gate.port}/0", front.blob_url)
    assert behind.wait(behind.send("pages 3")).pages == 3
    assert front.used() == (4, 2)
    behind.redis.close()


def test_a_commit_after_the_front_gave_up_is_not_metered(front, start_worker, own_redis):
    own_redis.pause()
    job = front.job()
    with within(5), pytest.raises(Unavailable):
        front.broker.publish(job)
    own_redis.go_on()
    start_worker()
    assert front.render("pages 2").pages == 2  # what comes in time is
    wait_until(lambda: front.redis.llen(INTERACTIVE) == 0)
    assert front.used() == (2, 1)


def test_a_render_answered_503_for_a_dead_redis_is_never_metered(
    front, start_worker, own_redis, tmp_path
):
    start_worker()
    front.render()
    job = front.job(f"sleep 1 {tmp_path}/pid", budget=30)
    front.broker.publish(job)

    def kill_while_it_runs() -> None:
        wait_until((tmp_path / "pid").exists)
        own_redis.kill()

    killing = threading.Thread(target=kill_while_it_runs)
    killing.start()
    with pytest.raises(Unavailable):
        front.wait(job)
    killing.join()
    own_redis.start()
    # The worker waited for Redis too, and commits now: no client is waiting any more.
    wait_until(lambda: front.redis.hexists(f"job:{job.id}", "done"))
    assert front.replies.abandon(job.id).error.status == 503
    assert front.used() == (1, 1)
    assert front.events() == 1


def test_a_child_that_dies_while_redis_stalls_leaves_its_worker_at_work(
    front, start_worker, own_redis, tmp_path
):
    start_worker()
    front.send(f"sleep 2 {tmp_path}/pid")
    wait_until((tmp_path / "pid").exists)
    own_redis.pause()
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    log = tmp_path / "worker0.log"
    wait_until(lambda: "message not put back" in log.read_text())
    own_redis.go_on()
    assert front.render("pages 2").pages == 2
