"""gunicorn's threads without its hand-offs: one of them leads, and answers what it finds itself.

gthread's main thread waits for all connections, gives each request to a pool and gets the
connection back through a pipe: that took a third of what the front spent on a small request. Threads
that all wait for clients wake each other for every call of the kernel: half of the rest.
"""

from __future__ import annotations

import os
import re
import select
import socket
import time
from contextlib import suppress
from functools import lru_cache, partial
from threading import Lock
from typing import Any, Final

from gunicorn import util
from gunicorn.http import wsgi
from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.errors import InvalidChunkSize, NoMoreData
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from api.admission.body import is_read
from api.heads import PlainConfig
from api.lane import Lane, give_way
from api.long_poll import stopping

_BEAT_SECONDS: Final = 1.0
# A leader that is at one request for so long is taken for blocked; the next one leads, and for a
# moment requests are begun on threads of their own.
_TICK_SECONDS: Final = 0.1
_CAUTIOUS_SECONDS: Final = 1.0
# So many requests wait at most for each other's jobs to be written.
_MOST_GATHERED: Final = 50
_AHEAD_BYTES: Final = 64 * 1024
_NOW: Final = int(socket.MSG_DONTWAIT)
_LENGTH: Final = re.compile(
    rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*(?=\r\n|\Z)", re.IGNORECASE
)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_SIZE_DIGITS: Final = 16
_LONG_SIZE: Final = re.compile(rb"[0-9A-Fa-f]{%d}" % (_SIZE_DIGITS + 1))
_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT
_JOINED_BYTES: Final = 64 * 1024


class FrontWorker(ThreadWorker):  # type: ignore[misc] # gunicorn has no types
    """Accepts and times out in the main thread; of the others one leads, and waits for clients.

    A connection is in one of three states: it waits for its client, and then stands in `_waiting`
    and is armed once in the kernel; or a thread answers on it; or it is closed. Whoever takes it
    out of `_waiting` has it. What a request is and how it is answered stays gunicorn's.

    A request that has come whole is begun by the leader itself, beside others (`api.lane`). Where
    it may take long, or has not come whole, the leader leaves the lead to another thread and goes
    on with it. Which lead it is, is counted: one that was taken away is not given up once more.
    """

    def init_process(self) -> None:
        """Prepare what the threads share, then run."""
        self._clients = select.epoll()
        self._waiting: dict[int, Any] = {}  # by descriptor, in the order they time out
        self._connections: set[Any] = set()
        self._lead = Lock()
        self._lead_changes = Lock()
        self._lead_number = 0
        self._at_request: tuple[int, float] | None = None  # the lead, and since when
        self._cautious_until = 0.0
        self._over = os.eventfd(0)
        self._clients.register(self._over, select.EPOLLIN)
        self.keepalived_conns = self._waiting  # gunicorn keeps no more than so many
        self.cfg: Any = PlainConfig(self.cfg)
        super().init_process()

    def run(self) -> None:
        """Serve until told to stop, then for as long as what was begun may take."""
        try:
            for _ in range(self.cfg.threads):
                self.tpool.submit(self._serve)
            self._watch()
            self._drain()
        finally:
            os.eventfd_write(self._over, 1)  # or the interpreter would wait for the threads
            self.tpool.shutdown(wait=False)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """Stop at once."""
        os.eventfd_write(self._over, 1)
        # Not as gthread does: the pool's lock may be held by what this interrupts, a front that is
        # just starting its threads.
        super(ThreadWorker, self).handle_quit(sig, frame)

    def accept(self, listener: Any) -> None:
        """Take a new connection; it holds no thread before its client says something."""
        try:
            sock, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process was quicker
        connection = TConn(self.cfg, sock, address, listener.getsockname())
        connection.data_ready = True  # a thread gets it when there is something to read
        self._connections.add(connection)
        self._clients.register(sock, 0)
        self._await_client(connection)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Answer a request, whose body is read as it comes."""
        if isinstance(req.body.reader, LengthReader):
            req.body = DirectBody(DirectReader(req.body.reader.unreader, req.body.reader.length))
        elif isinstance(req.body.reader, ChunkedReader):
            req.body = Body(BoundedChunks(req, req.unreader))
        return super().handle_request(req, conn)

    def _watch(self) -> None:
        self.poller.register(
            self.method_queue.fileno(), select.EPOLLIN, self.method_queue.run_callbacks
        )
        beat_at = 0.0
        while self.alive:
            if (at := time.monotonic()) >= beat_at:
                if not self.is_parent_alive():
                    return
                self.notify()
                self._close_idle(at=at)
                beat_at = at + _BEAT_SECONDS
            self.set_accept_enabled(len(self._connections) < self.worker_connections)
            self.wait_for_and_dispatch_events(_TICK_SECONDS)
            self._watch_lead()

    def _drain(self) -> None:
        """Let what was begun end; a request that is on its way is still answered."""
        stopping.set()
        self.set_accept_enabled(False)
        give_up_at = time.monotonic() + self.cfg.graceful_timeout
        lingered_at = time.monotonic() + STOP_KEEPALIVE_LINGER
        while self._connections and (at := time.monotonic()) < give_up_at:
            self.notify()
            self.wait_for_and_dispatch_events(_TICK_SECONDS)
            self._watch_lead()
            if at >= lingered_at:
                self._close_idle(at=float("inf"))

    def _close_idle(self, *, at: float) -> None:
        """Close connections whose clients had nothing to say by then."""
        for descriptor in list(self._waiting):
            connection = self._waiting.pop(descriptor, None)
            if connection is None:
                continue  # its client said something just now
            if connection.timeout > at:
                self._await_client(connection, until=connection.timeout)
                return
            self._close(connection)

    def _serve(self) -> None:
        """Be one of the threads."""
        is_over = False
        while not is_over:
            self._lead.acquire()
            is_over = self._serve_clients(self._lead_number)

    def _serve_clients(self, lead: int) -> bool:
        """Lead, then end what was begun meanwhile; tell whether the process stops."""
        lane, alone, is_over = Lane(), None, False
        while self._lead_number == lead and not lane.leaving:
            descriptor = self._find_client(lane, lead)
            if descriptor == self._over:
                is_over = True
                break
            connection = None if descriptor is None else self._waiting.pop(descriptor, None)
            if connection is None:
                continue
            at = time.monotonic()
            if at < self._cautious_until or not _has_come(connection):
                alone = connection
                break
            self._at_request = (lead, at)
            lane.begin(partial(self._answer, connection))
        self._leave_lead(lead)
        lane.end()
        if alone is not None:
            self._answer(alone)
        return is_over

    def _find_client(self, lane: Lane, lead: int) -> int | None:
        """Give a connection whose client said something, None after the jobs of others are written."""
        if self._lead_number == lead:
            self._at_request = None
        if not lane:
            ((descriptor, _),) = self._clients.poll(None, 1)
            return int(descriptor)
        found = self._clients.poll(0, 1) if len(lane) < _MOST_GATHERED else []
        if found:
            return int(found[0][0])
        self._at_request = (lead, time.monotonic())
        lane.settle()
        return None

    def _leave_lead(self, lead: int) -> bool:
        with self._lead_changes:
            if self._lead_number != lead:
                return False
            self._lead_number += 1
            self._at_request = None
            self._lead.release()
            return True

    def _watch_lead(self) -> None:
        """Take the lead from a thread that is blocked, for another one."""
        busy, at = self._at_request, time.monotonic()
        if busy is not None and at - busy[1] > _TICK_SECONDS and self._leave_lead(busy[0]):
            self._cautious_until = at + _CAUTIOUS_SECONDS

    def _answer(self, connection: Any) -> None:
        try:
            while self.handle(connection):
                # A request that came with the one before makes no socket readable.
                if not connection.parser.unreader.buf.getvalue():
                    self._await_client(connection)
                    return
                give_way()  # nobody has looked whether it is whole
        except Exception:
            self.log.exception("connection failed")
        give_way()
        self._close(connection, graceful=True)

    def _await_client(self, connection: Any, *, until: float | None = None) -> None:
        connection.timeout = until or time.monotonic() + self.cfg.keepalive
        descriptor = connection.sock.fileno()
        self._waiting[descriptor] = connection
        # What was said before it is armed makes it ready at once.
        self._clients.modify(descriptor, _ONCE)

    def _close(self, connection: Any, *, graceful: bool = False) -> None:
        with suppress(OSError):
            connection.close(graceful=graceful)
        self._connections.discard(connection)
        if not self._accepting:
            self.method_queue.defer(lambda: None)  # there is room again

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        body = conn.parser.mesg.body
        if keepalive and is_read(body) and not body.failed:
            # Nothing of it is left on the wire, and the next request need not look for it: three
            # changes of the socket less.
            conn.parser.mesg = None
            return True
        return bool(super()._keepalive_after(conn, keepalive))


def _has_come(connection: Any) -> bool:
    """Read ahead, and tell whether that is a whole request: answering it waits for nobody."""
    connection.init()
    try:
        data: bytes = connection.sock.recv(_AHEAD_BYTES, _NOW)
    except OSError:
        return False  # who reads on finds that out
    connection.parser.unreader.unread(data)
    head, end, body = data.partition(b"\r\n\r\n")
    if not end or _CHUNKED.search(head):
        return False
    length = _LENGTH.search(head)
    return length is None or len(body) >= int(length[1])


@lru_cache(maxsize=256)
def _is_plain(name: str) -> bool:
    """Tell whether a field of an answer is sent as it is, and means nothing to gunicorn."""
    if not wsgi.TOKEN_RE.fullmatch(name) or name.lower() == "content-length":
        return False
    return not util.is_hoppish(name)


class DirectBody(Body):  # type: ignore[misc] # gunicorn has no types
    """A body of known length, of which a piece is given as it comes.

    gunicorn's own gathers as much as was asked for, and copies it three times.
    """

    def read(self, size: int | None = None) -> bytes:
        """Give the next bytes, up to `size`, all without one; none at the end."""
        if size is None or size < 0 or self.buf.tell():
            rest: bytes = super().read(size)
            return rest
        piece: bytes = self._read_reader(size)
        return piece


class DirectReader(LengthReader):  # type: ignore[misc] # gunicorn has no types
    """Reads a body of known length from its socket, once what came with the head has been read.

    gunicorn's own reads a megabyte ahead and copies what is left of it for each piece that is
    asked for: 100 ms of a body of 32 MB, where this takes 20.
    """

    def read(self, size: int) -> bytes:
        """Give the next bytes, up to `size`; none at the end, or where the client broke off."""
        size = min(self.length, size)
        held = self.unreader.buf.getbuffer().nbytes
        if held or size == 0:
            data: bytes = self.unreader.read(min(size, held))
        else:
            data = self.unreader.sock.recv(size)
        self.length -= len(data)
        return data


class BoundedChunks(ChunkedReader):  # type: ignore[misc] # gunicorn has no types
    """Reads a chunked body whose chunk sizes have at most 16 hexadecimal digits.

    A proxy that counts in 64 bits may read a longer one as another number (RFC 9112, 7.1 and 11.2).
    """

    def parse_chunk_size(self, unreader: Any, data: bytes | None = None) -> Any:
        """Return the size of the next chunk and what follows it.

        Raises:
            InvalidChunkSize: it has more digits, or is none.
        """
        data = data or b""
        while len(data) <= _SIZE_DIGITS and b"\r\n" not in data:
            piece: bytes = unreader.read()
            if not piece:
                raise NoMoreData
            data += piece
        if _LONG_SIZE.match(data):
            raise InvalidChunkSize(data[: _SIZE_DIGITS + 1])
        return super().parse_chunk_size(unreader, data)


class JoinedResponse(wsgi.Response):  # type: ignore[misc] # gunicorn has no types
    """Sends the head with the first piece of the body: one packet for what fits into one."""

    headers_sent: bool  # here: written down; gunicorn asks it to know what it may still change
    _head = b""

    def send_headers(self) -> None:
        """Write the head, to be sent with what follows."""
        if not self.headers_sent:
            lines = [*self.default_headers(), *(f"{k}: {v}\r\n" for k, v in self.headers), "\r\n"]
            self._head = "".join(lines).encode("latin-1")
            self.headers_sent = True

    def process_headers(self, headers: list[tuple[str, str]]) -> None:
        """Take the fields of an answer; names recur, and are judged once."""
        for name, value in headers:
            if _is_plain(name) and wsgi.HEADER_VALUE_RE.fullmatch(value):
                self.headers.append((name, value.strip(" \t")))
            else:
                super().process_headers([(name, value)])

    def can_sendfile(self) -> bool:
        """Say no: a file would overtake the head."""
        return False

    def close(self) -> None:
        """End the answer; one without a body is sent now."""
        self.send_headers()
        self._emit_head()
        super().close()

    def _emit_body(self, data: bytes) -> None:
        if self._head and not self.chunked and len(data) <= _JOINED_BYTES:
            data, self._head = self._head + data, b""
        self._emit_head()
        super()._emit_body(data)

    def _emit_head(self) -> None:
        if self._head:
            util.write(self.sock, self._head)
            self._head = b""
