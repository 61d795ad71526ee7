"""Foreign messages are dropped, counted and logged, and the worker keeps running."""

from __future__ import annotations

import copy
import json
from collections import Counter

import pytest

from shared.queue.depth import QueueReader
from shared.queue.names import ASSEMBLE_TASK, BATCH, INTERACTIVE, RENDER_TASK, SLICE_TASK
from shared.queue.queues import NOT_A_TASK, UNKNOWN_TASK, WRONG_ARGUMENTS
from shared.queue.usage import UsageEntry
from tests.farm.conftest import read_counts
from tests.faults.farm import children_of
from tests.messages import write_body
from tests.waiting import wait_until
from workers.counter.stream import parse_entries


@pytest.fixture
def foreign(front) -> dict[str, tuple[bytes, str | None]]:
    """Return foreign messages, each with the reason to drop it; None is not counted."""
    front.broker.publish(front.job())
    own = json.loads(front.redis.lpop(INTERACTIVE))

    def changed(part: str | None, **members: object) -> bytes:
        found = copy.deepcopy(own)
        (found if part is None else found[part]).update(members)
        return json.dumps(found).encode()

    def without(part: str | None, name: str) -> bytes:
        found = copy.deepcopy(own)
        del (found if part is None else found[part])[name]
        return json.dumps(found).encode()

    def of(task: str, body: str) -> bytes:
        return write_body(changed("headers", task=task), body).encode()

    return {
        "nothing": (b"", None),
        "bytes": (bytes(range(256)), None),
        "no UTF-8": (b'{"body":"\xff\xfe"}', NOT_A_TASK),
        "depth": (b"[" * 100_000, None),
        "null": (b"null", NOT_A_TASK),
        "an empty object": (b"{}", NOT_A_TASK),
        "the first protocol": (b'{"task":"pressroom.render","id":"1","args":["x"]}', NOT_A_TASK),
        "headers that are a list": (changed(None, headers=[]), NOT_A_TASK),
        "no task": (without("headers", "task"), NOT_A_TASK),
        "an unhashable task": (changed("headers", task=["x"]), NOT_A_TASK),
        "no time limit": (without("headers", "timelimit"), NOT_A_TASK),
        "a time to start": (changed("headers", eta="2099-01-01T00:00:00"), NOT_A_TASK),
        "no properties": (without(None, "properties"), NOT_A_TASK),
        "no tag": (without("properties", "delivery_tag"), NOT_A_TASK),
        "a tag of a megabyte": (changed("properties", delivery_tag="x" * 1_000_000), NOT_A_TASK),
        "pickle": (changed(None, **{"content-type": "application/x-python-serialize"}), NOT_A_TASK),
        "a body that is no Base64": (changed(None, body="***"), NOT_A_TASK),
        "a body that is no JSON": (of(RENDER_TASK, "***"), NOT_A_TASK),
        "a body of another shape": (of(RENDER_TASK, '{"args":[]}'), NOT_A_TASK),
        "a callback": (of(RENDER_TASK, '[["x"],{},{"callbacks":[{"task":"x"}]}]'), NOT_A_TASK),
        "an unknown task": (changed("headers", task="os.system"), UNKNOWN_TASK),
        "no arguments": (of(RENDER_TASK, "[[],{},{}]"), WRONG_ARGUMENTS),
        "named arguments": (of(RENDER_TASK, '[["x"],{"delivery":1},{}]'), WRONG_ARGUMENTS),
        "a job that is none": (of(RENDER_TASK, '[["x"],{},{}]'), WRONG_ARGUMENTS),
        "a slice that is none": (of(SLICE_TASK, "[[{}],{},{}]"), WRONG_ARGUMENTS),
        "an assembly that is none": (of(ASSEMBLE_TASK, "[[{}],{},{}]"), WRONG_ARGUMENTS),
    }


@pytest.mark.long
def test_foreign_messages_are_dropped_and_counted_and_the_processes_keep_running(
    front, foreign, start_worker, free_tcp_port
):
    worker = start_worker(worker_concurrency="1", worker_metrics_port=str(free_tcp_port))
    assert front.render().pages == 1
    children = children_of(worker.pid)
    # What is no JSON makes the worker reconnect, which may lose what it is just being sent.
    uncounted = [text for text, reason in foreign.values() if reason is None]
    counted = {text: reason for text, reason in foreign.values() if reason is not None}
    for texts in (uncounted, counted):
        for text in texts:
            for queue in (INTERACTIVE, BATCH):
                front.redis.lpush(queue, text)
                assert front.wait(front.send(), seconds=20).pages == 1
        wait_until(lambda: not front.redis.llen(BATCH))
        assert front.render().pages == 1
    expected = Counter((reason,) for reason in counted.values() for _ in (INTERACTIVE, BATCH))
    wait_until(lambda: read_counts(free_tcp_port, "messages_dropped") == expected)
    assert worker.poll() is None
    assert children_of(worker.pid) == children


def test_a_queue_that_starts_with_a_foreign_message_has_a_depth(front, foreign):
    for text, _ in foreign.values():
        front.redis.rpush(INTERACTIVE, text)
        assert QueueReader(front.redis).read_depth().queues[INTERACTIVE].waiting > 0


def test_malformed_events_are_distinguished_from_valid_ones(foreign):
    for text, _ in foreign.values():
        events, reasons = parse_entries([UsageEntry(b"1-0", text)])
        assert (events, all(reasons.values()), len(reasons)) == ({}, True, 1)
