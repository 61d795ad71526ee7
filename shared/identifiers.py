"""Patterns of names and generation of identifiers."""

from __future__ import annotations

import re
import secrets
import string
from functools import lru_cache
from hashlib import sha256
from os import urandom
from typing import Final

from shared.clock import epoch

TEMPLATE_ID: Final = re.compile(r"(?!__.*__\Z)[A-Za-z0-9_-]{1,128}\Z")
NAME_PATTERN: Final = "[a-z0-9]+(?:-[a-z0-9]+)*"  # of slugs, tags, plans, images and fonts
_ID_SHAPE: Final = re.compile(r"[a-z0-9]{20}\Z")
PUBLIC_PREFIX: Final = "service-"

ID_LENGTH: Final = 24  # of what follows the prefix in identifiers of `new_id`

_BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
# In byte order, so that identifiers sort by time. A random byte maps to the digit of its last five bits.
_SORTED32: Final = "234567" + string.ascii_lowercase
_TO_BASE32: Final = _SORTED32.encode() * 8
_LOWER36: Final = string.ascii_lowercase + string.digits


def new_api_key() -> str:
    """Return a new API key: `pr_` and 40 base62 characters, 238 bits of entropy."""
    return "pr_" + "".join(secrets.choice(_BASE62) for _ in range(40))


def digest_api_key(key: str) -> str:
    """Return the SHA-256 of a key in hexadecimal, the only form in which keys are stored."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def display_api_key(key: str) -> str:
    """Return the first 7 and last 4 characters of a key, for lists."""
    return f"{key[:7]}…{key[-4:]}"


def new_template_id() -> str:
    """Return a new template id: twenty random lowercase letters and digits."""
    return "".join(secrets.choice(_LOWER36) for _ in range(20))


def has_id_shape(identifier: str) -> bool:
    """Return whether an identifier is a template id; no slug may have that shape."""
    return identifier.startswith(PUBLIC_PREFIX) or _ID_SHAPE.match(identifier) is not None


def new_id(prefix: str) -> str:
    """Return a new identifier such as `job_…`, safe in URLs and Redis keys.

    45 bits of the time in milliseconds, so that identifiers sort by time, and 75 bits of entropy
    (decision 0318).
    """
    # Every render makes two: calling secrets.choice for each letter would take 40 µs.
    return (
        f"{prefix}_{_write_time(int(epoch() * 1000))}{urandom(15).translate(_TO_BASE32).decode()}"
    )


@lru_cache(maxsize=1)  # many identifiers are made in the same millisecond
def _write_time(milliseconds: int) -> str:
    return "".join(_SORTED32[milliseconds >> shift & 31] for shift in range(40, -1, -5))
