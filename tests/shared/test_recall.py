"""What a front has answered reaches the ledger's stream again when Redis loses it."""

from datetime import UTC, datetime

import pytest

from deploy.embedded.loopback import free_port
from shared.errors import Unavailable
from shared.jobs import Allowance
from shared.metering import PageEvent
from shared.queue import recall as module
from shared.queue.connection import connect
from shared.queue.recall import Recall
from shared.queue.usage import UsageStream
from tests.conftest import start_redis

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def redis(redis_url):
    redis = connect(redis_url)
    yield redis
    redis.close()


@pytest.fixture
def clock(monkeypatch):
    """Stop the clock of this process; what is put on it passes at once."""

    class Clock:
        seconds = 1000.0

    monkeypatch.setattr(module, "ticks", lambda: Clock.seconds)
    return Clock


def event(number):
    return PageEvent(f"job_{number}", "acc_1", "2026-11-01", Allowance.PRODUCTION, number, NOON)


@pytest.fixture
def front(redis):
    """Give what one front process keeps; the test looks in place of its thread."""
    return Recall(redis)


def answer(redis, recall, number):
    """Do as a worker's commit and the front's answer do."""
    redis.xadd("usage", {"event": event(number).encode()})
    recall.note(event(number))


def in_stream(redis):
    return [PageEvent.decode(fields[b"event"]) for _, fields in redis.xrange("usage")]


def count_everything(redis):
    stream = UsageStream(redis, reader="test")
    stream.open()
    stream.acknowledge(stream.read(count=10_000))


def test_an_emptied_redis_is_given_what_was_answered(redis, front, clock):
    for number in (1, 2):
        answer(redis, front, number)
        front.look()
    redis.flushall()
    assert front.look() == 2
    assert in_stream(redis) == [event(1), event(2)]
    assert front.look() == 0


def test_a_redis_that_kept_everything_is_given_nothing(redis, front, clock):
    front.look()
    answer(redis, front, 1)
    front.look()
    answer(redis, front, 2)
    assert [front.look() for _ in range(3)] == [0, 0, 0]
    assert in_stream(redis) == [event(1), event(2)]


def test_every_process_notices_by_itself(redis, clock):
    fronts = [Recall(redis) for _ in range(3)]
    for number, front in enumerate(fronts):
        answer(redis, front, number)
        front.look()
    redis.flushall()
    assert [front.look() for front in fronts] == [1, 1, 1]
    redis.flushall()
    clock.seconds += 10
    assert [front.look() for front in fronts] == [1, 1, 1]


def test_a_second_loss_is_believed_after_a_rest(redis, front, clock):
    answer(redis, front, 1)
    front.look()
    for _ in range(3):  # as if a name led to other servers by turns
        redis.flushall()
        answer(redis, front, 2)
        front.look()
        clock.seconds += 1
    assert len(in_stream(redis)) < 4
    clock.seconds += 7
    front.look()
    assert {each.job_id for each in in_stream(redis)} == {"job_1", "job_2"}


def test_an_answer_noted_just_after_the_loss_was_seen_is_given_too(redis, front, clock):
    answer(redis, front, 1)
    front.look()
    redis.flushall()
    front.look()
    front.note(event(2))  # its reply was read before the loss, and its PDF fetched since
    assert front.look() == 1
    assert in_stream(redis) == [event(1), event(2)]


def test_a_restarted_redis_is_given_what_it_may_not_have_written(tmp_path, clock):
    port = free_port()
    server = start_redis(port, tmp_path)
    redis = connect(f"redis://127.0.0.1:{port}/0")
    front = Recall(redis)
    try:
        answer(redis, front, 1)
        front.look()
        server.kill()
        server.wait()
        with pytest.raises(Unavailable):
            front.look()
        server = start_redis(port, tmp_path)
        assert front.look() == 1
    finally:
        server.kill()
        server.wait()
        redis.close()


def test_what_the_ledger_has_is_forgotten_after_a_minute(redis, front, clock):
    answer(redis, front, 1)
    front.look()
    count_everything(redis)
    clock.seconds += module.KEPT_SECONDS + 1
    front.look()
    redis.flushall()
    assert front.look() == 0


def test_what_the_counter_has_not_read_is_kept_for_longer(redis, front, clock):
    seconds, _ = redis.time()
    redis.xadd("usage", {"event": event(1).encode()}, id=f"{(seconds - 600) * 1000}-0")
    front.note(event(2))
    front._memory = front._ask().memory
    clock.seconds += 600
    front.look()
    redis.flushall()
    assert front.look() == 1
    # Given again it stands at the end of the stream, and is as young as that.
    clock.seconds += 50
    front.look()
    redis.flushall()
    assert front.look() == 1


def test_what_is_kept_is_bounded(redis, clock, monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    front = Recall(redis)
    for number in range(10):
        front.note(event(number))
    assert front.look() == 3
    assert in_stream(redis) == [event(7), event(8), event(9)]


def test_a_thousand_events_are_given_in_portions(redis, front, clock):
    front.look()
    for number in range(1200):
        front.note(event(number))
    redis.flushall()
    assert front.look() == 1200
    assert in_stream(redis) == [event(number) for number in range(1200)]
