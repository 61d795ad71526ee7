"""The pool of children: children come and go, and what ends with a child comes again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.queue.names import job_key


@pytest.mark.long
def test_a_child_that_dies_has_its_next_message_run_by_another(front, start_worker, tmp_path):
    start_worker()
    with ThreadPoolExecutor(8) as pool:
        bodies = ["pages 3"] * 8 + [f"die-once {tmp_path}/began"] + ["pages 3"] * 8
        outcomes = list(pool.map(front.render, bodies))
    assert [outcome.pages for outcome in outcomes] == [3] * 8 + [2] + [3] * 8
    assert front.used() == (16 * 3 + 2, 17)


@pytest.mark.long
def test_no_job_is_lost_as_children_are_replaced(front, start_worker, tmp_path):
    start_worker(child_max_jobs="3")
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2"), range(24)))
    assert [outcome.pages for outcome in outcomes] == [2] * 24
    keys = [job_key(outcome.job_id) for outcome in outcomes]
    assert [front.redis.hget(key, "deliveries") for key in keys] == [b"1"] * 24
    assert front.used() == (48, 24)
    assert "WorkerLostError" not in (tmp_path / "worker0.log").read_text()


@pytest.mark.long
def test_a_job_over_its_limit_is_answered_whatever_follows_it(front, start_worker):
    start_worker()
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2", cap=5), range(16)))
    told = sorted(outcome.error.status if outcome.error else 200 for outcome in outcomes)
    assert told == [200] * 3 + [402] * 13
    assert front.used() == (6, 3)


@pytest.mark.long
def test_a_message_longer_than_a_pipe_holds_comes_whole(front, start_worker):
    start_worker(worker_concurrency="2")
    with ThreadPoolExecutor(6) as pool:
        outcomes = pool.map(front.render, ["pages 3 100" + " " * 64_000] * 6)
        assert [outcome.pages for outcome in outcomes] == [3] * 6
    assert front.used() == (18, 6)
