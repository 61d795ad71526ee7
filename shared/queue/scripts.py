"""Loads the Lua scripts of the farm: one `.lua` file each, in `scripts/` of the package that runs it.

A line `--- @include NAME` is replaced by the text of `NAME.lua` of `shared/queue/scripts`, which contains
functions of several scripts.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from redis import Redis
from redis.commands.core import Script

_INCLUDE: Final = re.compile(r"^--- @include ([a-z_]+)$", re.MULTILINE)
_QUEUE: Final = "shared.queue"


def register(redis: Redis, name: str, *, package: str = _QUEUE) -> Script:
    """Return a script of a package, ready to be called with `keys` and `args`.

    redis-py sends its digest, and its text if the server does not have it.

    Raises:
        FileNotFoundError: the package has no such script.
    """
    return redis.register_script(read_script(name, package=package))


@cache
def read_script(name: str, *, package: str = _QUEUE) -> str:
    """Return the text of a script, with its includes.

    Raises:
        FileNotFoundError: the package has no such script.
    """
    text = files(package).joinpath("scripts", f"{name}.lua").read_text("utf-8")
    return _INCLUDE.sub(lambda found: read_script(found[1]), text)
