"""Messages taken ahead of their slots: none waits long, overtakes, is lost or runs elsewhere too."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import replace

import pytest

from shared.batches.records import JobSlice
from shared.clock import ticks
from shared.jobs import Purpose
from shared.line import Line
from shared.queue.ahead import HOLD_SECONDS, SHORT_SECONDS, Ahead, Pace
from shared.queue.names import (
    BATCH,
    FARM_EPOCH,
    INTERACTIVE,
    UNACKED,
    UNACKED_INDEX,
    VALIDATE,
    job_key,
    job_of,
)
from shared.queue.slices import SliceQueue

QUEUES = (INTERACTIVE, VALIDATE, BATCH)


@pytest.fixture
def ahead():
    ahead = Ahead()
    hurry(ahead.pace)
    return ahead


@pytest.fixture
def line(front):
    return Line(front.redis)


def hurry(pace: Pace) -> None:
    for number in range(8):
        pace.begin(str(number))
        pace.end(str(number))


def take_all(ahead: Ahead) -> list[str]:
    return [taken.tag for taken in iter(ahead.take, None)]


def tags(*published) -> list[str]:
    return [each.delivery_tag for each in published]


def publish(front, count: int):
    return [front.broker.publish(front.job()) for _ in range(count)]


def send_slices(front, *names: str) -> None:
    SliceQueue(front.redis, render_budget=60).send([JobSlice(name) for name in names])


def test_free_slots_and_as_many_again_are_served_in_the_order_of_the_queue(front, line, ahead):
    sent = publish(front, 5)
    ahead.turn(line, QUEUES, free=2, slots=2)
    assert take_all(ahead) == tags(*sent[:4])
    assert front.redis.llen(INTERACTIVE) == 1


def test_what_is_taken_is_held_in_the_same_step_and_let_go_when_it_has_ended(front, line, ahead):
    [sent] = publish(front, 1)
    ahead.turn(line, QUEUES, free=0, slots=1)
    assert front.redis.hkeys(UNACKED) == [sent.delivery_tag.encode()]
    assert front.redis.zscore(UNACKED_INDEX, sent.delivery_tag)
    ahead.end(sent.delivery_tag)
    ahead.turn(line, (), free=1, slots=1)
    assert not front.redis.exists(UNACKED, UNACKED_INDEX)


def test_long_work_has_nothing_wait_behind_it(front, line):
    ahead = Ahead()
    sent = publish(front, 3)
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert take_all(ahead) == tags(*sent[:1])


def test_one_long_render_among_the_last_ends_the_looking_ahead(monkeypatch):
    pace = Pace()
    hurry(pace)
    assert pace.is_short
    pace.begin("long")
    later = ticks() + SHORT_SECONDS + 0.01
    monkeypatch.setattr("shared.queue.ahead.ticks", lambda: later)
    pace.end("long")
    assert not pace.is_short


def test_a_batch_is_taken_for_a_free_slot_and_never_ahead(front, line, ahead):
    send_slices(front, "a", "b", "c")
    ahead.turn(line, QUEUES, free=1, slots=2)
    assert len(take_all(ahead)) == 1
    ahead.turn(line, QUEUES, free=0, slots=2)
    assert len(ahead) == 0


def test_a_render_is_taken_before_a_validation_that_came_first(front, line, ahead):
    validation = front.broker.publish(front.job(purpose=Purpose.VALIDATE))
    render = front.broker.publish(front.job())
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert take_all(ahead) == tags(render, validation)


def test_a_body_cannot_pass_for_the_tag_of_its_message(front, line, ahead):
    body = '{"delivery_tag":"stolen"} \\"delivery_tag\\":\\"stolen\\"'
    sent = front.broker.publish(replace(front.job(), charset=body))
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert take_all(ahead) == tags(sent)


def test_what_is_given_back_is_next_again_and_in_its_order(front, line, ahead):
    sent = publish(front, 4)
    ahead.turn(line, QUEUES, free=1, slots=2)
    ahead.give_back(line)
    assert not front.redis.exists(UNACKED, UNACKED_INDEX)
    ahead.turn(line, QUEUES, free=4, slots=4)
    assert take_all(ahead) == tags(*sent)


def test_what_another_worker_was_given_meanwhile_is_not_queued_twice(front, line, ahead):
    [sent] = publish(front, 1)
    ahead.turn(line, QUEUES, free=1, slots=1)
    front.redis.hdel(UNACKED, sent.delivery_tag)  # as a sweep does when the lease is over
    ahead.give_back(line)
    assert front.redis.llen(INTERACTIVE) == 0


def deliveries(front, published) -> list[int]:
    counts = [front.redis.hget(job_key(each.job_id), "deliveries") for each in published]
    return [int(count or 0) for count in counts]


def test_a_delivery_is_counted_for_a_free_slot_and_ahead_of_one_when_a_slot_has_it(
    front, line, ahead
):
    sent = publish(front, 2)
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert deliveries(front, sent) == [1, 0]
    assert [ahead.take().delivery, ahead.take().delivery] == [1, 1]
    ahead.turn(line, (), free=0, slots=1)
    assert deliveries(front, sent) == [1, 1]


def test_what_waits_in_workers_that_die_is_not_thought_to_kill_them(front, line):
    sent = publish(front, 2)
    for _ in range(3):
        dying = Ahead()
        hurry(dying.pace)
        dying.turn(line, QUEUES, free=0, slots=2)
        dying.give_back(line)  # as a sweep does when the lease is over
    assert deliveries(front, sent) == [0, 0]


def test_the_state_of_a_job_that_only_a_worker_knows_of_lapses(front, line, ahead):
    [sent] = publish(front, 1)
    front.redis.delete(job_key(sent.job_id))
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert front.redis.ttl(job_key(sent.job_id)) > 0


@pytest.mark.parametrize("free", [0, 1])
def test_a_job_that_was_given_up_is_known_as_it_is_taken(front, line, ahead, free):
    [sent] = publish(front, 1)
    front.replies.abandon(sent.job_id)
    ahead.turn(line, QUEUES, free=free, slots=1)
    assert ahead.take().delivery == 0


def test_a_job_on_record_is_counted_as_it_is_taken_and_has_begun_then(front, line, ahead):
    front.redis.set(FARM_EPOCH, "1700000000.5")
    jobs = [replace(front.job(), is_recorded=True) for _ in range(2)]
    front.broker.queue_recorded({job.encode(): job for job in jobs})
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert front.redis.hkeys(job_key(jobs[0].id)) == [b"deliveries", b"started_at"]
    assert not front.redis.exists(job_key(jobs[1].id))
    taken = [ahead.take(), ahead.take()]
    assert [(each.delivery, each.memory_since) for each in taken] == [(1, 1700000000.5)] * 2
    ahead.turn(line, (), free=0, slots=1)
    assert front.redis.hkeys(job_key(jobs[1].id)) == [b"deliveries", b"started_at"]


def test_a_job_begun_again_keeps_when_it_was_begun_first(front, line, ahead):
    job = replace(front.job(), is_recorded=True)
    front.redis.hset(job_key(job.id), mapping={"deliveries": 1, "started_at": "5.5"})
    front.broker.queue_recorded({job.encode(): job})
    ahead.turn(line, QUEUES, free=1, slots=1)
    taken = ahead.take()
    assert (taken.delivery, taken.memory_since) == (2, None)
    assert front.redis.hget(job_key(job.id), "started_at") == b"5.5"


def test_what_an_earlier_release_queued_is_counted_by_its_slot(front, line, ahead):
    job = replace(front.job(), is_recorded=True)
    front.broker.queue_recorded({job.encode(): job})
    front.redis.lpush(INTERACTIVE, front.redis.rpop(INTERACTIVE).replace(b":recorded", b""))
    ahead.turn(line, QUEUES, free=1, slots=1)
    assert ahead.take().delivery is None
    assert not front.redis.exists(job_key(job.id))


def test_the_message_an_idle_worker_waited_for_is_held_and_counted_in_one_step(front, line, ahead):
    [sent] = publish(front, 1)
    text, tag = front.redis.rpop(INTERACTIVE), sent.delivery_tag
    assert ahead.note(line, INTERACTIVE, text, tag=tag, is_redelivered=False) == 1
    line.ask(("PING",))
    assert front.redis.hkeys(UNACKED) == [sent.delivery_tag.encode()]
    assert front.redis.zscore(UNACKED_INDEX, sent.delivery_tag)
    assert deliveries(front, [sent]) == [1]


def test_a_worker_of_batches_alone_takes_them_ahead_too(front, line, ahead):
    send_slices(front, "a", "b", "c")
    ahead.turn(line, (BATCH,), free=1, slots=1)
    assert [job_of(tag) for tag in take_all(ahead)] == ["a", "b"]
    assert front.redis.llen(BATCH) == 1


def test_a_message_that_comes_again_is_waited_for_to_know_how_often_it_did(front, line, ahead):
    [sent] = publish(front, 1)
    text, tag = front.redis.rpop(INTERACTIVE), sent.delivery_tag
    for delivery in (1, 2, 3):
        assert ahead.note(line, INTERACTIVE, text, tag=tag, is_redelivered=True) == delivery
    front.replies.abandon(sent.job_id)
    assert ahead.note(line, INTERACTIVE, text, tag=tag, is_redelivered=True) == 0


@pytest.mark.parametrize("is_redelivered", [False, True])
def test_a_job_on_record_that_an_idle_worker_gets_has_begun(front, line, ahead, is_redelivered):
    job = replace(front.job(), is_recorded=True)
    front.broker.queue_recorded({job.encode(): job})
    text = front.redis.rpop(INTERACTIVE)
    tag = json.loads(text)["properties"]["delivery_tag"]
    assert ahead.note(line, INTERACTIVE, text, tag=tag, is_redelivered=is_redelivered) == 1
    line.ask(("PING",))
    assert front.redis.hkeys(UNACKED) == [tag.encode()]
    assert front.redis.hkeys(job_key(job.id)) == [b"deliveries", b"started_at"]
    assert front.redis.ttl(job_key(job.id)) > 24 * 3600


def test_a_message_that_waits_behind_a_long_render_is_left_to_other_workers(
    front, start_worker, tmp_path, wait_until
):
    start_worker()
    for _ in range(10):
        assert front.render().pages == 1
    began = tmp_path / "began"
    for _ in range(3):
        front.send("sleep 0.02")
    front.send(f"sleep 6 {began}")
    behind = front.broker.publish(front.job())
    wait_until(began.exists)
    time.sleep(3 * HOLD_SECONDS)  # it may have been taken ahead meanwhile
    wait_until(lambda: front.redis.lrange(INTERACTIVE, 0, -1) == [behind.message.encode()])
    assert front.redis.hlen(UNACKED) == 1


def test_a_slot_that_has_its_next_message_is_given_no_other_as_it_ends(
    front, start_worker, tmp_path, wait_until
):
    worker = start_worker(worker_concurrency="2")
    for _ in range(10):
        assert front.render().pages == 1
    worker.send_signal(signal.SIGSTOP)
    for _ in range(20):
        front.send("draw 0.01")
    began = [tmp_path / "one", tmp_path / "two"]
    for each in began:
        front.send(f"sleep 6 {each}")
    behind = [front.broker.publish(front.job()).message.encode() for _ in range(4)]
    worker.send_signal(signal.SIGCONT)
    wait_until(lambda: all(each.exists() for each in began))
    # What was taken ahead is in the queue again before a slot is free.
    wait_until(lambda: front.redis.lrange(INTERACTIVE, 0, -1) == behind[::-1], seconds=4)
    assert front.redis.hlen(UNACKED) == 2


def test_a_worker_that_is_terminated_at_work_leaves_the_rest_in_the_queue(front, start_worker):
    worker = start_worker()
    assert front.render().pages == 1
    jobs = [front.send("sleep 0.01") for _ in range(100)]
    assert front.wait(jobs[20]).pages == 1
    worker.terminate()
    assert worker.wait(10) == 0
    _, done = front.used()
    assert not front.redis.exists(UNACKED)
    assert 21 <= done < 101
    assert front.redis.llen(INTERACTIVE) == 101 - done
