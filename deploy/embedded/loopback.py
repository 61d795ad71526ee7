"""Free ports on the loopback interface for the servers of an embedded farm."""

from __future__ import annotations

import os
import socket
from collections import deque
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_MOST_HELD: Final = 100
_HELD: Final[deque[int]] = deque()  # descriptors of reserved ports, kept until the process ends


def free_port() -> int:
    """Return a free loopback port and reserve it.

    A bound socket that does not listen reserves the port: a server with SO_REUSEADDR may bind it, but the
    kernel does not assign it as an ephemeral port. The last hundred ports stay reserved.
    """
    holder = socket.socket()
    holder.bind((LOOPBACK, 0))
    # After bind: with SO_REUSEADDR the kernel could assign a port that is already reserved.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    port: int = holder.getsockname()[1]
    if len(_HELD) >= _MOST_HELD:
        os.close(_HELD.popleft())
    _HELD.append(holder.detach())
    return port
