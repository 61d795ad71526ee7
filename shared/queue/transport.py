"""kombu's Redis transport: messages ahead of their slots, fewer round trips, drained queues left."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from queue import Empty
from typing import Any, Final

from kombu.transport import redis as kombu_redis
from kombu.transport import virtual
from redis import RedisError
from redis.exceptions import ResponseError

from shared.clock import ticks
from shared.line import Line
from shared.queue.ahead import Ahead
from shared.queue.messages import NOT_A_TASK, NOT_JSON, ForeignMessage, read_message
from shared.queue.sums import add_to_totals
from shared.telemetry import metrics
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)

_REFUSED_SECONDS: Final = 0.5
_EXCERPT_BYTES: Final = 100


class Message(virtual.Message):
    """A message whose arguments are read where its task runs.

    Celery reads them in the worker too, for what it might show of them, and hands a second copy of
    them to the child.
    """

    @property
    def payload(self) -> tuple[tuple[()], dict[str, Any], dict[str, Any]]:
        """Give no arguments, and nothing that is to follow the task."""
        return (), {}, {}


class SteadyLoop:
    """A worker's event loop, which is not asked again for what it watches already.

    kombu and billiard ask it at every turn and for every message, and each time the kernel refuses.
    """

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        """Give what else the loop has."""
        return getattr(self._loop, name)

    def add_reader(self, fd: int, callback: Any, *args: Any) -> None:
        """Have what can be read told to the callback."""
        if self._loop.readers.get(fd) != (callback, args):
            self._loop.add_reader(fd, callback, *args)


class QoS(kombu_redis.QoS):
    """Bookkeeping of held messages that no lost connection can jam.

    kombu keeps a message it could not acknowledge in its books for ever. With one message at a
    time (prefetch 1) such a worker asks for no more, and so never finds its connection broken.
    Here the message leaves the books; in Redis its lease runs out, it is delivered again, and
    `Commits.begin` sees that its job has ended.
    """

    def can_consume(self) -> bool:
        """Tell whether a slot is free, or was left by a message that is nearly done."""
        return not self.prefetch_count or self.count_free() > 0

    def count_free(self) -> int:
        """Count the slots that are free, or were left by messages that are nearly done."""
        at_work = len(self._delivered) - len(self._dirty) - len(self.channel.nearly_done)
        return max(self.prefetch_count - at_work, 0)

    def restore_visible(self, start: int = 0, num: int | None = 10, interval: int = 10) -> None:
        """Queue again what dead workers held: kombu's, by the clock of Redis.

        By its own, a worker whose clock is behind would lose what it holds to the others.
        """
        with self.channel.conn_or_acquire() as client:
            seconds, _ = client.time()
            try:
                with kombu_redis.Mutex(client, self.unacked_mutex_key, self.unacked_mutex_expire):
                    left = client.zrange(
                        self.unacked_index_key,
                        0,
                        seconds - self.visibility_timeout,
                        byscore=True,
                        offset=start if num else None,
                        num=num or None,
                    )
                    for tag in left:
                        self._restore_held(tag, client)
            except kombu_redis.MutexHeld:
                pass

    def _restore_held(self, tag: bytes, client: Any) -> None:
        try:
            self.restore_by_tag(tag, client)  # type: ignore[no-untyped-call]
        except (ValueError, TypeError):
            text = client.hget(self.unacked_key, tag) or b""
            with client.pipeline() as pipe:
                pipe.hdel(self.unacked_key, tag)
                pipe.zrem(self.unacked_index_key, tag)
                pipe.execute()
            self.channel.report_dropped(self.unacked_key, text, NOT_JSON)

    def append(self, message: Any, delivery_tag: str) -> None:
        """Note that a message is held; Redis knows already."""
        virtual.QoS.append(self, message, delivery_tag)  # type: ignore[no-untyped-call]
        self.channel.ahead.pace.begin(delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message, at the latest with the next one."""
        virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]
        self.channel.end(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Give a message back, or forget it when Redis is away."""
        self.channel.ahead.pace.forget(delivery_tag)
        self.channel.nearly_done.discard(delivery_tag)
        try:
            super().reject(delivery_tag, requeue=requeue)  # type: ignore[no-untyped-call]
        except RedisError as error:
            log.warning("message not given back, it will come again", cause=repr(error))
            virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]


class Channel(kombu_redis.Channel):
    """A channel that has the next message before a slot is free for it (`shared.queue.ahead`).

    It keeps its client, where kombu makes one for each command (0.2 ms a job, queueing.md B3), and
    takes nothing from queues it is to leave alone.
    """

    QoS = QoS
    Message = Message
    _kept: Any = None
    _in_poll: Any
    _left_alone: AbstractSet[str] = frozenset()
    _watch: Any = None
    _is_cancelled = False
    _refused_until = 0.0

    def __init__(self, *args: Any, **options: Any) -> None:
        self.ahead: Final = Ahead()
        # Messages whose slots have got their next ones.
        self.nearly_done: Final[set[str]] = set()
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]

    def leave_alone(self, queues: AbstractSet[str]) -> bool:
        """Take from all queues but these from the next message on; tell whether that is new.

        What was asked for already, for a second at most, still comes.
        """
        if queues == self._left_alone:
            return False
        self._left_alone = frozenset(queues)
        self._update_queue_cycle()
        return True

    def end(self, delivery_tag: str) -> None:
        """Acknowledge a message, and give its slot the next one, unless it has that already.

        Where that is here it goes first, and the step in Redis follows when it is gone.
        """
        self.ahead.end(delivery_tag)
        self.nearly_done.discard(delivery_tag)
        loop = self.connection.loop if self.connection else None
        if loop is not None and self.qos.can_consume() and self._deliver_next():
            loop.call_soon(self._turn)
        else:
            self._turn()

    def give_early(self, delivery_tag: str) -> bool:
        """Give the slot of a message that is nearly done its next one, if that is here; tell so."""
        if self._is_cancelled or not self.ahead or delivery_tag not in self.qos._delivered:
            return False
        self.nearly_done.add(delivery_tag)
        return self._deliver_next()

    def basic_consume(self, *args: Any, **options: Any) -> Any:
        """Ask a queue for messages."""
        self._is_cancelled = False
        return super().basic_consume(*args, **options)  # type: ignore[no-untyped-call]

    def basic_cancel(self, consumer_tag: str) -> Any:
        """Ask for no more messages; what waits here goes back."""
        self._is_cancelled = True
        if not self._closing:  # cut off from Redis otherwise: the leases end by themselves
            self._give_back()
            self._turn()
        return super().basic_cancel(consumer_tag)  # type: ignore[no-untyped-call]

    def _turn(self) -> None:
        if self.connection is None:
            return  # closed meanwhile: what was held comes again
        # Nothing is taken while kombu asks for a message itself: it would be one too many.
        queues = [] if self._in_poll or self._is_cancelled else self._queues()
        slots = self.qos.prefetch_count
        try:
            self.ahead.turn(self._line(), queues, free=self.qos.count_free(), slots=slots)
        except RedisError as error:
            log.warning("messages not acknowledged, they will come again", cause=repr(error))
            return
        while self.qos.can_consume() and self._deliver_next():
            pass
        self._watch_over()

    def _queues(self) -> list[str]:
        queues: list[str] = self._queue_cycle.consume(len(self.active_queues))
        return queues

    def report_dropped(self, queue: str, text: bytes, reason: str) -> None:
        """Count and log what was in a queue and is no message of the farm's."""
        log.error(
            "message dropped",
            queue=queue,
            reason=reason,
            bytes=len(text),
            excerpt=repr(text[:_EXCERPT_BYTES]),
        )
        try:
            with self.conn_or_acquire() as client:
                add_to_totals(client, metrics.MESSAGES_DROPPED, reason)
        except RedisError as error:
            log.warning("dropped message not counted", cause=repr(error))

    def _deliver_next(self) -> bool:
        while (taken := self.ahead.take()) is not None:
            try:
                message = read_message(taken.text, taken.queue)
                if message["properties"]["delivery_tag"] != taken.tag:
                    raise ForeignMessage(NOT_A_TASK)
            except ForeignMessage as error:
                self.ahead.drop(taken.tag)
                self.report_dropped(taken.queue, taken.text, error.reason)
                continue
            self._deliver(message, taken.queue, taken.delivery, memory_since=taken.memory_since)
            return True
        return False

    def _deliver(
        self,
        message: dict[str, Any],
        queue: str,
        delivery: int | None,
        *,
        memory_since: float | None = None,
    ) -> None:
        message["headers"] |= {"delivery": delivery, "memory_since": memory_since}
        self.connection._deliver(message, queue)

    def _brpop_start(self, *args: Any, **options: Any) -> None:
        if ticks() >= self._refused_until:
            super()._brpop_start(*args, **options)  # type: ignore[no-untyped-call]

    def _brpop_read(self, **options: Any) -> bool:
        # As kombu's, but what comes is noted in one step, as what the turns take is; a slot has
        # the message before Redis has answered that. What Redis refuses, as on a full disk, is asked
        # for again, where kombu ends the worker.
        connection = self.client.connection
        queue, text = "", b""
        try:
            found = self.client.parse_response(connection, "BRPOP", **options)
            if not found:
                raise Empty
            queue, text = found[0].decode(), bytes(found[1])
            self._queue_cycle.rotate(queue)
            message = read_message(text, queue)
            delivery = self.ahead.note(
                self._line(),
                queue,
                text,
                tag=message["properties"]["delivery_tag"],
                is_redelivered="redelivered" in message["headers"],  # kombu's word
            )
            self._deliver(message, queue, delivery)
        except ResponseError as error:
            log.warning("no messages taken, Redis refuses", cause=repr(error))
            self._refused_until = ticks() + _REFUSED_SECONDS
            raise Empty from error
        except ForeignMessage as error:
            self.report_dropped(queue, text, error.reason)
            raise Empty from error
        except self.connection_errors:
            connection.disconnect()
            raise
        finally:
            self._in_poll = None
        return True

    def _watch_over(self) -> None:
        """Look again when the first message has waited here for long enough."""
        left = self.ahead.seconds_left()
        if left is None or self._watch is not None or self.connection.loop is None:
            return
        self._watch = self.connection.loop.call_later(left, self._look)

    def _look(self) -> None:
        self._watch = None
        if self.connection is None:
            return
        if self.ahead.seconds_left() == 0:
            self._give_back()
        self._watch_over()

    def _give_back(self) -> None:
        self.ahead.pace.forget()
        if not self.ahead:
            return
        try:
            self.ahead.give_back(self._line())
        except RedisError as error:
            log.warning("messages not given back, they will come again", cause=repr(error))

    def _update_queue_cycle(self) -> None:
        # What kombu asks the next message from; `active_queues` stays as it is, since a channel
        # without any no longer looks for what a dead worker held.
        self._queue_cycle.update([q for q in self.active_queues if q not in self._left_alone])

    def _line(self) -> Line:
        with self.conn_or_acquire() as client:
            return Line(client)

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """Give the client passed in, or the channel's own; a client is only a view of its pool."""
        if client:
            yield client
            return
        pool = self.pool  # made anew after a fork and after a reconnect; the client follows it
        if self._kept is None or self._kept.connection_pool is not pool:
            self._kept = self._create_client()  # type: ignore[no-untyped-call]
        yield self._kept


class Transport(kombu_redis.Transport):
    """The transport the workers' Celery application is given by name."""

    Channel = Channel
    # What Redis refuses is tried again, as what is asked of one that is away.
    connection_errors = (*kombu_redis.Transport.connection_errors, ResponseError)
    loop: Any = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Have the channels work within the worker's event loop."""
        super().register_with_event_loop(connection, SteadyLoop(loop))  # type: ignore[no-untyped-call]
        self.loop = loop
