"""The process of rule packs: `python -m workers.rules.main FOLDER`, with a listening socket as standard input.

It ends when it is idle, has grown, or needs too long for an invoice; the next request starts another.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from multiprocessing.connection import Connection
from typing import Final

import msgspec

from shared.limits import MB
from shared.memory import read_memory
from workers.render import landlock
from workers.render.confinement import die_with_parent, refuse_privileges
from workers.rules.client import MAX_BYTES, SECONDS, JudgeRequest
from workers.rules.judging import Judge, refuse_files

_IDLE_SECONDS: Final = 120.0
_WAIT_SECONDS: Final = 5.0  # for the rest of a request
# SaxonC reserves 33 GB of addresses and uses some 200 MB; RLIMIT_DATA counts what is writable.
_MOST_MEMORY: Final = 1024 * MB
_GROWN: Final = 512 * MB


def main() -> None:
    """Answer one request after the other."""
    die_with_parent(os.getppid())
    refuse_privileges()
    for kind, limit in ((resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (limit, limit))
    os.environ.clear()  # noqa: TID251 - no rule reads it
    landlock.restrict(writable=(), ports=())
    judge = Judge(sys.argv[1], refuse_files)
    listener = socket.socket(fileno=0)
    listener.settimeout(_IDLE_SECONDS)
    while read_memory(os.getpid()).resident < _GROWN:
        try:
            accepted, _ = listener.accept()
        except TimeoutError:
            return
        accepted.setblocking(True)
        with Connection(accepted.detach()) as connection:
            _answer(connection, judge)


def _answer(connection: Connection, judge: Judge) -> None:
    signal.setitimer(signal.ITIMER_REAL, _WAIT_SECONDS)  # its signal ends the process, in any code
    try:
        request = msgspec.msgpack.decode(connection.recv_bytes(MAX_BYTES), type=JudgeRequest)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        verdict = judge.judge(request.content, request.facts)
        connection.send_bytes(msgspec.msgpack.encode(verdict))
    except OSError:  # the other side has gone
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
