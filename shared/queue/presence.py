"""A front's word that it waits for a job: a render nobody will answer must not be metered."""

from __future__ import annotations

from typing import Final

from shared.line import Command
from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.names import job_key

# A front renews its word every second. One that has not for this long has answered 503, after
# Redis was away, or is gone; `Commits.commit` then refuses a success.
AWAITED_SECONDS: Final = 4.0

# By the server's clock, which the commit compares with too.
_AWAIT: Final = """
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'awaited_until', time[1] + time[2] / 1000000 + ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
"""


def say_word(job_id: str) -> Command:
    """Make the command by which the front says that it waits for `AWAITED_SECONDS` from now."""
    return ("EVAL", _AWAIT, 1, job_key(job_id), AWAITED_SECONDS, CLAIM_TTL_SECONDS)
