"""A connection of its own for the calls that every render makes."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, Final
from weakref import WeakKeyDictionary

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

_RECONNECT_SECONDS: Final = 0.05
# From here on hiredis packs in memory that the kernel has to hand out anew: 2.4 ms for 1 MB, where
# one copy takes 0.05. Below it is faster than what is written in Python.
_LARGE_BYTES: Final = 128 * 1024

Command = Sequence[Any]


class AnswerLostError(RedisConnectionError):
    """Commands were sent, and their answers lost: they may have run, or run yet."""


class Posted:
    """A command that was sent, and whose answer is read later, by the thread that sent it."""

    __slots__ = ("answer", "command")

    def __init__(self, command: Command) -> None:
        self.command: Final = command
        self.answer: list[Any] = []  # one item once it is there


class _Own(threading.local):
    """What a thread has of a client: its connection, and what that still has to answer, in order."""

    connection: Any = None

    def __init__(self) -> None:
        self.posted: deque[Posted] = deque()


# Of each pool of connections, by which a client is known: the connections of the threads.
_CONNECTIONS: Final[MutableMapping[Any, _Own]] = WeakKeyDictionary()


class Line:
    """Asks a server without what redis-py puts around each command: 0.05 ms a call instead of 0.15.

    Each thread has one connection for all lines of a client. Its calls raise `RedisError`. One that
    fails on a stale connection is repeated once, as `connect` has it: a command may run twice.
    """

    def __init__(self, redis: Redis) -> None:
        self._pool = redis.connection_pool
        self._own = _CONNECTIONS.setdefault(self._pool, _Own())

    def run(self, script: str, keys: Sequence[str], args: Command) -> Any:
        """Run a script and give what it returns."""
        return self.ask(("EVAL", script, len(keys), *keys, *args))[0]

    def ask(self, *commands: Command) -> list[Any]:
        """Send commands together and give their answers; raise the first error among them.

        Raises:
            AnswerLostError: the connection broke after they were sent.
        """
        try:
            answers = self._exchange(commands)
        except (RedisConnectionError, RedisTimeoutError) as first:
            time.sleep(_RECONNECT_SECONDS)
            try:
                answers = self._exchange(commands)
            except (RedisConnectionError, RedisTimeoutError) as error:
                if isinstance(first, AnswerLostError):
                    raise first from error
                raise
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise answer
        return answers

    def post(self, command: Command) -> Posted:
        """Send a command and do not wait; what goes wrong is told where the answer is asked for."""
        posted = Posted(command)
        self._send(posted)
        return posted

    def send(self, *commands: Command) -> None:
        """Send commands together that nobody asks the answers of: they may be lost, or refused."""
        self._send(*map(Posted, commands))

    def has_answer(self, posted: Posted) -> bool:
        """Wait for the answer to what was posted; False where it was lost on its way."""
        if not posted.answer and posted in self._own.posted:
            try:
                with self._whole() as connection:
                    self._catch_up(connection)
            except (RedisConnectionError, RedisTimeoutError):
                return False
        return bool(posted.answer)

    def answer(self, posted: Posted) -> Any:
        """Give the answer to what was posted, which is asked again where that was lost."""
        if not self.has_answer(posted):
            return self.ask(posted.command)[0]
        if isinstance(posted.answer[0], ResponseError):
            raise posted.answer.pop()
        return posted.answer[0]

    def _send(self, *posted: Posted) -> None:
        with suppress(RedisConnectionError, RedisTimeoutError), self._whole() as connection:
            connection.send_packed_command(_pack(connection, [each.command for each in posted]))
            self._own.posted.extend(posted)

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        with self._whole() as connection:
            connection.connect()
            try:
                connection.send_packed_command(_pack(connection, commands))
                self._catch_up(connection)
                return [_read(connection) for _ in commands]
            except (RedisConnectionError, RedisTimeoutError) as error:
                raise AnswerLostError(*error.args) from error

    def _catch_up(self, connection: Any) -> None:
        """Read the answers to what was posted, which come before all others."""
        waiting = self._own.posted
        while waiting:
            waiting[0].answer.append(_read(connection))
            waiting.popleft()

    @contextmanager
    def _whole(self) -> Iterator[Any]:
        connection = self._connection()
        try:
            yield connection
        except BaseException:
            # Whatever it was, an alarm too: an answer that is still to come must not be the next's.
            self._own.posted.clear()
            connection.disconnect()
            raise

    def _connection(self) -> Any:
        kept = self._own.connection
        if kept is None or kept.pid != os.getpid():
            self._own.posted.clear()
            # What is repeated is repeated here: twice the patience of a connection that repeats too
            # would be more than the 5 s of contract.md 1.
            once = {"retry": Retry(NoBackoff(), 0)}
            kept = self._pool.connection_class(**self._pool.connection_kwargs | once)
            self._own.connection = kept
        return kept


def _pack(connection: Any, commands: Sequence[Command]) -> Any:
    if not any(isinstance(part, bytes) and len(part) > _LARGE_BYTES for part in chain(*commands)):
        return connection.pack_commands(commands)
    pieces: list[bytes] = []
    for command in commands:
        pieces.append(b"*%d\r\n" % len(command))
        for part in command:
            data = part if isinstance(part, bytes) else str(part).encode()
            pieces += (b"$%d\r\n" % len(data), data, b"\r\n")
    return [b"".join(pieces)]


def _read(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error
