"""The pool of children: each has one message at a time, and what ends with a child comes again."""

from __future__ import annotations

from shared.queue.names import job_key


def test_a_child_that_has_had_its_number_of_jobs_is_given_no_other(front, start_worker, tmp_path):
    start_worker(child_max_jobs="1")
    jobs = [front.send("pages 2") for _ in range(4)]
    assert [front.wait(job).pages for job in jobs] == [2] * 4
    assert [front.redis.hget(job_key(job.id), "deliveries") for job in jobs] == [b"1"] * 4
    assert "WorkerLostError" not in (tmp_path / "worker0.log").read_text()


def test_a_message_longer_than_a_pipe_holds_comes_whole(front, start_worker):
    start_worker(worker_concurrency="2")
    jobs = [front.send("pages 3 100" + " " * 64_000) for _ in range(6)]
    assert [front.wait(job).pages for job in jobs] == [3] * 6
    assert front.used() == (18, 6)
