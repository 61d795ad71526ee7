"""The pool of children: each has one message at a time, and what ends with a child comes again."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from shared.queue.names import INTERACTIVE, UNACKED, job_key
from shared.queue.transport import SteadyLoop


def test_a_child_that_has_had_its_number_of_jobs_is_given_no_other(front, start_worker, tmp_path):
    start_worker(child_max_jobs="1")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2"), range(4)))
    assert [outcome.pages for outcome in outcomes] == [2] * 4
    keys = [job_key(outcome.job_id) for outcome in outcomes]
    assert [front.redis.hget(key, "deliveries") for key in keys] == [b"1"] * 4
    assert "WorkerLostError" not in (tmp_path / "worker0.log").read_text()


def test_a_message_longer_than_a_pipe_holds_comes_whole(front, start_worker):
    start_worker(worker_concurrency="2")
    with ThreadPoolExecutor(6) as pool:
        outcomes = pool.map(front.render, ["pages 3 100" + " " * 64_000] * 6)
        assert [outcome.pages for outcome in outcomes] == [3] * 6
    assert front.used() == (18, 6)


def test_a_message_whose_arguments_cannot_be_read_stops_no_other(front, start_worker, wait_until):
    front.broker.publish(front.job())
    message = json.loads(front.redis.lpop(INTERACTIVE))
    message["body"] = "no json"
    front.redis.lpush(INTERACTIVE, json.dumps(message))
    start_worker()
    assert front.render("pages 2").pages == 2
    wait_until(lambda: not front.redis.exists(UNACKED))


def test_a_loop_is_asked_once_for_what_it_watches_and_anew_for_another_callback():
    class Loop:
        def __init__(self):
            self.readers, self.asked = {}, 0

        def add_reader(self, fd, callback, *args):
            self.asked += 1
            self.readers[fd] = (callback, args)

    loop = Loop()
    steady = SteadyLoop(loop)
    for callback in (print, print, repr):
        steady.add_reader(3, callback, 3)
    assert loop.asked == 2
    loop.readers.pop(3)
    steady.add_reader(3, repr, 3)
    assert loop.asked == 3
