"""Usage events of answered renders are sent to the stream again when Redis loses them."""

from datetime import UTC, datetime

import pytest

from shared.errors import Unavailable
from shared.jobs.records import Allowance
from shared.queue import replies as module
from shared.queue.connection import connect
from shared.queue.replies import UsageReplay
from shared.queue.usage import UsageStream
from shared.usage.metering import UsageEvent
from tests.servers import RedisServer

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    """Stop the clock of this process; what is put on it passes at once."""

    class Clock:
        seconds = 1000.0

    monkeypatch.setattr(module, "ticks", lambda: Clock.seconds)
    return Clock


def event(number):
    return UsageEvent(f"job_{number}", "acc_1", "2026-11-01", Allowance.PRODUCTION, number, NOON)


@pytest.fixture
def front(redis):
    """Return the store of one front process; the test runs it in place of its thread."""
    return UsageReplay(redis)


def answer(redis, replay, number):
    """Commit as a worker and answer as a front."""
    redis.xadd("usage", {"event": event(number).encode()})
    replay.store(event(number))


def in_stream(redis):
    return [UsageEvent.decode(fields[b"event"]) for _, fields in redis.xrange("usage")]


def count_everything(redis):
    stream = UsageStream(redis, reader="test")
    stream.open()
    stream.acknowledge(stream.read(count=10_000))


def test_answered_events_are_resent_to_an_emptied_redis(redis, front, clock):
    for number in (1, 2):
        answer(redis, front, number)
        front.check()
    redis.flushall()
    assert front.check() == 2
    assert in_stream(redis) == [event(1), event(2)]
    assert front.check() == 0


def test_an_intact_redis_gets_no_resent_events(redis, front, clock):
    front.check()
    answer(redis, front, 1)
    front.check()
    answer(redis, front, 2)
    assert [front.check() for _ in range(3)] == [0, 0, 0]
    assert in_stream(redis) == [event(1), event(2)]


def test_every_process_notices_by_itself(redis, clock):
    fronts = [UsageReplay(redis) for _ in range(3)]
    for number, front in enumerate(fronts):
        answer(redis, front, number)
        front.check()
    redis.flushall()
    assert [front.check() for front in fronts] == [1, 1, 1]
    redis.flushall()
    clock.seconds += 10
    assert [front.check() for front in fronts] == [1, 1, 1]


def test_a_second_loss_is_believed_after_a_rest(redis, front, clock):
    answer(redis, front, 1)
    front.check()
    for _ in range(3):  # as if a name led to other servers by turns
        redis.flushall()
        answer(redis, front, 2)
        front.check()
        clock.seconds += 1
    assert len(in_stream(redis)) < 4
    clock.seconds += 7
    front.check()
    assert {each.job_id for each in in_stream(redis)} == {"job_1", "job_2"}


def test_an_answer_noted_just_after_the_loss_was_seen_is_given_too(redis, front, clock):
    answer(redis, front, 1)
    front.check()
    redis.flushall()
    front.check()
    front.store(event(2))  # its reply was read before the loss, and its PDF fetched since
    assert front.check() == 1
    assert in_stream(redis) == [event(1), event(2)]


def test_possibly_unwritten_events_are_resent_to_a_restarted_redis(tmp_path, clock):
    with RedisServer(tmp_path) as server, connect(server.url) as redis:
        front = UsageReplay(redis)
        answer(redis, front, 1)
        front.check()
        server.kill()
        with pytest.raises(Unavailable):
            front.check()
        server.start()
        assert front.check() == 1


def test_events_in_the_ledger_are_dropped_after_a_minute(redis, front, clock):
    answer(redis, front, 1)
    front.check()
    count_everything(redis)
    clock.seconds += module.RETENTION_SECONDS + 1
    front.check()
    redis.flushall()
    assert front.check() == 0


def test_uncounted_events_are_retained_longer(redis, front, clock):
    seconds, _ = redis.time()
    redis.xadd("usage", {"event": event(1).encode()}, id=f"{(seconds - 600) * 1000}-0")
    front.check()
    front.store(event(2))
    clock.seconds += 600
    front.check()
    redis.flushall()
    assert front.check() == 1
    # Given again it is at the end of the stream, and is as young as that.
    clock.seconds += 50
    front.check()
    redis.flushall()
    assert front.check() == 1


def test_retained_events_are_bounded(redis, clock, monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    front = UsageReplay(redis)
    for number in range(10):
        front.store(event(number))
    assert front.check() == 3
    assert in_stream(redis) == [event(7), event(8), event(9)]


def test_a_thousand_events_are_given_in_portions(redis, front, clock):
    front.check()
    for number in range(1200):
        front.store(event(number))
    redis.flushall()
    assert front.check() == 1200
    assert in_stream(redis) == [event(number) for number in range(1200)]
