"""The pool of children: each has one message at a time, and what ends with a child comes again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from shared.queue.names import job_key


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
