"""What is no message of the farm's is dropped, counted and logged, and the worker goes on."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from redis import Redis

from shared.queue.depth import QueueReader
from shared.queue.messages import (
    MOST_BYTES,
    NOT_A_TASK,
    NOT_JSON,
    TOO_LARGE,
    UNKNOWN_TASK,
    WRONG_ARGUMENTS,
    Envelope,
    write_message,
)
from shared.queue.names import (
    ASSEMBLE_TASK,
    BATCH,
    INTERACTIVE,
    RENDER_TASK,
    SLICE_TASK,
    UNACKED,
    UNACKED_INDEX,
)
from shared.queue.sums import read_sums
from shared.queue.usage import Entry
from shared.telemetry import metrics
from tests.faults.farm import children_of, wait_until
from workers.counter.ledger import sort_batch


def message(
    task: str = RENDER_TASK, arguments: object = ("x",), *, tag: str = "interactive:job_1:ab"
) -> dict:
    envelope = Envelope(task, "job_1", INTERACTIVE, tag, 65.0, time.time())
    return json.loads(write_message(envelope, list(arguments)))


def changed(part: str | None, **members: object) -> bytes:
    found = message()
    (found if part is None else found[part]).update(members)
    return json.dumps(found).encode()


def without(part: str | None, name: str) -> bytes:
    found = message()
    del (found if part is None else found[part])[name]
    return json.dumps(found).encode()


FOREIGN = {
    "nothing": (b"", NOT_JSON),
    "bytes": (bytes(range(256)), NOT_JSON),
    "half a message": (json.dumps(message()).encode()[:-1], NOT_JSON),
    "no JSON but a tag": (b'"delivery_tag": "interactive:x:y:waited" ***', NOT_JSON),
    "no UTF-8": (b'{"body":"\xff\xfe"}', NOT_JSON),
    "depth": (b"[" * 100_000, NOT_JSON),
    "null": (b"null", NOT_A_TASK),
    "a number": (b"17", NOT_A_TASK),
    "a list": (b"[1,2]", NOT_A_TASK),
    "an empty object": (b"{}", NOT_A_TASK),
    "Celery's first protocol": (b'{"task":"pressroom.render","id":"1","args":["x"]}', NOT_A_TASK),
    "headers that are a list": (changed(None, headers=[]), NOT_A_TASK),
    "no task": (without("headers", "task"), NOT_A_TASK),
    "a task that is a number": (changed("headers", task=5), NOT_A_TASK),
    "an unhashable task": (changed("headers", task=["x"]), NOT_A_TASK),
    "no time limit": (without("headers", "timelimit"), NOT_A_TASK),
    "a time limit of text": (changed("headers", timelimit=["soon", None]), NOT_A_TASK),
    "no properties": (without(None, "properties"), NOT_A_TASK),
    "no tag": (without("properties", "delivery_tag"), NOT_A_TASK),
    "a tag that is an object": (changed("properties", delivery_tag={}), NOT_A_TASK),
    "a tag of a megabyte": (changed("properties", delivery_tag="x" * 1_000_000), NOT_A_TASK),
    "pickle": (changed(None, **{"content-type": "application/x-python-serialize"}), NOT_A_TASK),
    "another encoding": (changed(None, **{"content-encoding": "binary"}), NOT_A_TASK),
    "a body that is no text": (changed(None, body={"x": 1}), NOT_A_TASK),
    "an unknown task": (changed("headers", task="os.system"), UNKNOWN_TASK),
    "a body too large": (changed(None, body="x" * MOST_BYTES), TOO_LARGE),
    "a body that is no JSON": (changed(None, body="***"), WRONG_ARGUMENTS),
    "a body of another shape": (changed(None, body='{"args":[]}'), WRONG_ARGUMENTS),
    "no arguments": (changed(None, body="[[],{},{}]"), WRONG_ARGUMENTS),
    "too many arguments": (changed(None, body="[[1,2,3],{},{}]"), WRONG_ARGUMENTS),
    "named arguments": (changed(None, body='[["x"],{"delivery":1},{}]'), WRONG_ARGUMENTS),
    "a callback": (changed(None, body='[["x"],{},{"callbacks":[{"task":"x"}]}]'), WRONG_ARGUMENTS),
    "arguments that are no JSON": (changed(None, body="[[***],{},{}]"), WRONG_ARGUMENTS),
    "a job that is none": (changed(None, body='[["x"],{},{}]'), WRONG_ARGUMENTS),
    "a job that is a number": (changed(None, body="[[5],{},{}]"), WRONG_ARGUMENTS),
    "a slice that is none": (json.dumps(message(SLICE_TASK, [{}])).encode(), WRONG_ARGUMENTS),
    "a slice that is text": (json.dumps(message(SLICE_TASK, ["x"])).encode(), WRONG_ARGUMENTS),
    "an assembly that is none": (json.dumps(message(ASSEMBLE_TASK, [{}])).encode(), WRONG_ARGUMENTS),
    "an assembly of nothing": (json.dumps(message(ASSEMBLE_TASK, [None])).encode(), WRONG_ARGUMENTS),
}  # fmt: skip


def dropped(redis: Redis) -> Counter[str]:
    name = f"{metrics.MESSAGES_DROPPED.name}|"
    return Counter(
        {
            field.removeprefix(name): int(amount)
            for field, amount in read_sums(redis).items()
            if field.startswith(name)
        }
    )


def test_what_is_no_message_of_ours_is_dropped_and_counted_and_the_same_processes_go_on(
    front, start_worker, tmp_path
):
    worker = start_worker(worker_concurrency="1")
    assert front.render().pages == 1
    children = children_of(worker.pid)
    for text, _ in FOREIGN.values():
        for queue in (INTERACTIVE, BATCH):
            front.redis.lpush(queue, text)
            assert front.wait(front.send(), seconds=10).pages == 1
    wait_until(lambda: not front.redis.llen(BATCH), seconds=10)
    # What a child counts goes with its next commit.
    expected = Counter(reason for _, reason in FOREIGN.values() for _ in (INTERACTIVE, BATCH))
    wait_until(lambda: front.render() and dropped(front.redis) == expected, seconds=10)
    wait_until(lambda: not front.redis.exists(UNACKED, UNACKED_INDEX), seconds=10)
    assert worker.poll() is None
    assert children_of(worker.pid) == children
    log = (tmp_path / "worker0.log").read_text()
    assert log.count("message dropped") == sum(expected.values())
    assert max(map(len, log.splitlines())) < 2000


def test_messages_taken_ahead_of_their_slot_are_dropped_between_renders(front, start_worker):
    worker = start_worker(worker_concurrency="2")
    for _ in range(20):  # short ones: the worker looks ahead
        assert front.render().pages == 1
    jobs = []
    for text, _ in FOREIGN.values():
        jobs += [front.send(), front.send()]
        front.redis.lpush(INTERACTIVE, text)
    assert [front.wait(job, seconds=10).pages for job in jobs] == [1] * len(jobs)

    def are_counted() -> bool:
        # What a child counts goes with its next commit: both children get one.
        for job in [front.send("sleep 0.1"), front.send("sleep 0.1")]:
            front.wait(job, seconds=10)
        return dropped(front.redis).total() == len(FOREIGN)

    wait_until(are_counted, seconds=10)
    wait_until(lambda: not front.redis.exists(UNACKED, UNACKED_INDEX), seconds=10)
    assert worker.poll() is None


def test_a_held_message_that_is_none_does_not_keep_a_dead_workers_others_back(front, start_worker):
    front.redis.hset(UNACKED, "interactive:x:y:waited", b"***")
    front.redis.zadd(UNACKED_INDEX, {"interactive:x:y:waited": 1})
    start_worker()
    wait_until(lambda: not front.redis.exists(UNACKED, UNACKED_INDEX), seconds=10)
    assert dropped(front.redis) == {NOT_JSON: 1}


def test_a_queue_that_begins_with_what_is_no_message_has_a_depth(front):
    for text, _ in FOREIGN.values():
        front.redis.rpush(INTERACTIVE, text)
        assert QueueReader(front.redis).read_depth().queues[INTERACTIVE].waiting > 0


@pytest.mark.parametrize("event", [text for text, _ in FOREIGN.values()])
def test_an_event_that_is_none_is_told_from_those_that_are(event):
    [unreadable] = sort_batch([Entry(b"1-0", event)]).unreadable
    assert unreadable.reason
