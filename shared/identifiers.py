"""Name rules and fresh identifiers: every pattern of interface.md, once."""

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
SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
TAG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
IMAGE_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
ID_SHAPE: Final = re.compile(r"[a-z0-9]{20}\Z")
PUBLIC_PREFIX: Final = "service-"

_BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
# In the order of their bytes. Of what is random, each byte stands for its last five bits.
_SORTED32: Final = "234567" + string.ascii_lowercase
_TO_BASE32: Final = _SORTED32.encode() * 8
_LOWER36: Final = string.ascii_lowercase + string.digits


def new_api_key() -> str:
    """Make a key: `pr_` and 40 base62 characters, 238 bits of entropy (contract.md 2)."""
    return "pr_" + "".join(secrets.choice(_BASE62) for _ in range(40))


def digest_api_key(key: str) -> str:
    """Give the only form in which a key is stored: its SHA-256, hexadecimal."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def display_api_key(key: str) -> str:
    """Give the first 7 and last 4 characters, for lists."""
    return f"{key[:7]}…{key[-4:]}"


def new_template_id() -> str:
    """Make a template id: twenty random lowercase letters and digits (contract.md 3)."""
    return "".join(secrets.choice(_LOWER36) for _ in range(20))


def has_id_shape(identifier: str) -> bool:
    """Tell a template id from a slug: no slug may look like one (interface.md, Slug)."""
    return identifier.startswith(PUBLIC_PREFIX) or ID_SHAPE.match(identifier) is not None


def new_id(prefix: str) -> str:
    """Make an identifier such as `job_…`, safe in URLs and Redis keys: 45 bits of the time in
    milliseconds, so that later ones sort after earlier ones, and 75 bits of entropy (decisions/0175).
    """
    # Every render makes two: a call of secrets.choice for each letter would take 40 µs.
    return (
        f"{prefix}_{_write_time(int(epoch() * 1000))}{urandom(15).translate(_TO_BASE32).decode()}"
    )


@lru_cache(maxsize=1)  # many are made in the same millisecond
def _write_time(milliseconds: int) -> str:
    return "".join(_SORTED32[milliseconds >> shift & 31] for shift in range(40, -1, -5))
