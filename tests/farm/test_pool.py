"""The pool of children: each has its next message in time, and what ends with a child comes again."""

from __future__ import annotations

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest
from billiard.pool import ACK, READY

from shared.queue.ahead import HOLD_SECONDS
from shared.queue.names import INTERACTIVE, UNACKED, job_key
from shared.queue.transport import SteadyLoop
from workers.farm.budget import BudgetExceeded
from workers.farm.pool import NEARLY_DONE, ChildSlot


def test_a_child_that_has_had_its_number_of_jobs_is_given_no_other(front, start_worker, tmp_path):
    start_worker(child_max_jobs="1")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2"), range(4)))
    assert [outcome.pages for outcome in outcomes] == [2] * 4
    keys = [job_key(outcome.job_id) for outcome in outcomes]
    assert [front.redis.hget(key, "deliveries") for key in keys] == [b"1"] * 4
    assert "WorkerLostError" not in (tmp_path / "worker0.log").read_text()


def send_with_one_early(front, worker, first):
    """Send four jobs to a worker of one child: the second lies in its pipe while it draws `first`.

    The worker takes messages ahead while the last were short; a machine that is busy has it try anew.
    """
    for _ in range(10):
        for _ in range(8):
            assert front.render("pages 1").pages == 1
        worker.send_signal(signal.SIGSTOP)
        before = front.send("pages 1")
        jobs = [front.send(first), *(front.send("pages 2") for _ in range(3))]
        worker.send_signal(signal.SIGCONT)
        assert front.wait(before).pages == 1
        # What is only held ahead has gone back by then.
        time.sleep(2 * HOLD_SECONDS)
        if front.redis.llen(INTERACTIVE) == 2:
            return jobs
        assert all(front.wait(job) is not None for job in jobs)
    raise AssertionError("no message was given early")


def test_a_child_that_is_nearly_done_is_given_its_next_message(front, start_worker):
    jobs = send_with_one_early(front, start_worker(), "draw 0.8")
    assert [front.wait(job).pages for job in jobs] == [1, 2, 2, 2]
    pages, renders = front.used()
    assert (pages - 7) == (renders - 4)  # all others had one page


def test_a_child_that_dies_has_its_next_message_run_by_another(front, start_worker, tmp_path):
    start_worker()
    with ThreadPoolExecutor(8) as pool:
        bodies = ["pages 3"] * 8 + [f"die-once {tmp_path}/began"] + ["pages 3"] * 8
        outcomes = list(pool.map(front.render, bodies))
    assert [outcome.pages for outcome in outcomes] == [3] * 8 + [2] + [3] * 8
    assert front.used() == (16 * 3 + 2, 17)


def test_a_worker_that_is_told_to_stop_ends_what_its_child_was_given(front, start_worker):
    worker = start_worker()
    jobs = send_with_one_early(front, worker, "draw 0.8")
    worker.terminate()
    assert [front.wait(job).pages for job in jobs[:2]] == [1, 2]
    assert worker.wait(10) == 0
    assert front.redis.llen(INTERACTIVE) == 2


def test_a_child_about_to_end_is_given_no_message_early(front, start_worker, tmp_path):
    start_worker(child_max_jobs="3")
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2"), range(24)))
    assert [outcome.pages for outcome in outcomes] == [2] * 24
    assert front.used() == (48, 24)
    assert "WorkerLostError" not in (tmp_path / "worker0.log").read_text()


def test_what_is_over_its_cap_is_answered_whatever_follows_it(front, start_worker):
    start_worker()
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: front.render("pages 2", cap=5), range(16)))
    told = sorted(outcome.error.status if outcome.error else 200 for outcome in outcomes)
    assert told == [200] * 3 + [402] * 13
    assert front.used() == (6, 3)


def test_a_refusal_is_told_before_the_long_render_that_follows_is_done(front, start_worker):
    worker = start_worker()
    for _ in range(8):
        front.render("pages 1")
    worker.send_signal(signal.SIGSTOP)
    refused, long = front.send("pages 2", cap=0), front.send("sleep 1.5")
    worker.send_signal(signal.SIGCONT)
    begun = time.monotonic()
    assert front.wait(refused).error.status == 402
    assert time.monotonic() - begun < 1.0
    assert front.wait(long).pages == 1


class End:
    """An end whose answer comes, or not, and which notes that it was settled."""

    def __init__(self, told, name, *, has_come=True, error=None):
        self._told, self._name, self._has_come, self._error = told, name, has_come, error

    def has_come(self):
        return self._has_come

    def settle(self, *, has_next):
        self.has_next = has_next
        self._told.append(self._name)
        if self._error is not None:
            raise self._error


@pytest.fixture
def slot():
    """A child's slot, what it told, and the pipe its messages come by."""
    reader, writer = Pipe(duplex=False)
    told = []
    slot = ChildSlot()
    slot.open(
        SimpleNamespace(
            inq=SimpleNamespace(_reader=reader), inqW_fd=7, outq=SimpleNamespace(put=told.append)
        )
    )
    with reader, writer:
        yield slot, told, writer


def test_an_end_that_is_put_off_is_settled_at_once_where_nothing_waits(slot):
    slot, told, _ = slot
    slot.put_off(End(told, "first"))
    slot.put((READY, 1))
    slot.put((READY, 2))
    assert told == ["first", (READY, 1), (READY, 2)]


def test_an_end_knows_whether_its_slot_has_another_job(slot):
    slot, told, writer = slot
    last, first = End(told, "last"), End(told, "first")
    slot.put_off(last)
    slot.put((READY, 1))
    writer.send("next")
    slot.put_off(first)
    slot.put((READY, 2))
    slot.settle()
    assert (last.has_next, first.has_next) == (False, True)


def test_an_end_is_told_when_its_answer_has_come_and_before_the_next(slot):
    slot, told, writer = slot
    writer.send("next")
    slot.put_off(End(told, "first"))
    slot.put((READY, 1))
    assert told == []
    slot.put((ACK, (2, None)))
    slot.look()
    slot.nearly_done()
    assert told == ["first", (READY, 1), (NEARLY_DONE, (2, 7))]
    slot.put_off(End(told, "second", has_come=False))
    slot.put((READY, 2))
    slot.look()
    slot.put_off(End(told, "third"))
    assert told[3:] == ["second", (READY, 2)]
    slot.settle()
    slot.put((READY, 3))
    assert told[5:] == ["third", (READY, 3)]


def test_a_job_that_puts_nothing_off_ends_after_the_one_before(slot):
    slot, told, writer = slot
    writer.send("next")
    slot.put_off(End(told, "first", has_come=False))
    slot.put((READY, 1))
    slot.put((READY, 2))
    assert told == ["first", (READY, 1), (READY, 2)]


def test_an_end_that_fails_is_told_all_the_same(slot):
    slot, told, _ = slot
    slot.put_off(End(told, "first", error=ValueError("lost")))
    slot.put((READY, 1))
    assert told == ["first", (READY, 1)]


def test_an_end_that_an_alarm_cut_off_is_settled_again(slot):
    slot, told, writer = slot
    writer.send("next")
    end = End(told, "first", error=BudgetExceeded())
    slot.put_off(end)
    slot.put((READY, 1))
    with pytest.raises(BudgetExceeded):
        slot.look()
    end._error = None
    slot.put((READY, 2))
    assert told == ["first", "first", (READY, 1), (READY, 2)]


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
