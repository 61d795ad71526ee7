"""Ports on loopback, where the servers of an embedded farm listen."""

from __future__ import annotations

import os
import socket
from collections import deque
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_MOST_HELD: Final = 100
_HELD: Final[deque[int]] = deque()  # the descriptors of those that were given, to the process's end


def free_port() -> int:
    """Give a loopback port that nobody else is given, neither a server nor a connection.

    It is held by a socket that does not listen: a server may bind it that reuses addresses, as
    servers do, and the kernel gives it to nobody who asks for any port. The last hundred are held.
    """
    holder = socket.socket()
    holder.bind((LOOPBACK, 0))
    # Only now: a socket that reuses addresses may be given a port that another one holds.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    port: int = holder.getsockname()[1]
    if len(_HELD) >= _MOST_HELD:
        os.close(_HELD.popleft())
    _HELD.append(holder.detach())
    return port
