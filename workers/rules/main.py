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
from shared.parent_death import die_with_parent
from workers.render import confinement
from workers.render.confinement import refuse_privileges
from workers.rules.client import MAX_BYTES, PATIENCE_SECONDS, SECONDS, JudgeRequest
from workers.rules.judging import Judge, refuse_files

_IDLE_SECONDS: Final = 120.0
_WAIT_SECONDS: Final = 5.0  # for the rest of a request
# SaxonC reserves 33 GB of addresses; RLIMIT_DATA counts what is writable, 440 MB with all built-in packs.
_MOST_MEMORY: Final = 1024 * MB
_GROWN: Final = 640 * MB


def main() -> None:
    """Answer one request after the other."""
    die_with_parent(os.getppid())
    refuse_privileges()
    for kind, limit in ((resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (limit, limit))
    os.environ.clear()  # noqa: TID251 - no rule reads it
    confinement.restrict(writable=(), ports=())
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
    # The signals of these timers end the process, in any code. Rules have CPU time, not that of a busy machine.
    signal.setitimer(signal.ITIMER_REAL, _WAIT_SECONDS)
    try:
        request = msgspec.msgpack.decode(connection.recv_bytes(MAX_BYTES), type=JudgeRequest)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        verdict = judge.judge(request.content, request.facts)
        connection.send_bytes(msgspec.msgpack.encode(verdict))
    except OSError:  # the other side has gone
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
