"""The one way out: every address that a client gives is fetched or called through here (hazards.md 5)."""

from shared.outbound.client import Answered, Downloaded, Fetched, Outbound, Told
from shared.outbound.failures import (
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.outbound.fetcher import Ask, Fetcher, FetcherBusy

__all__ = [
    "Answered",
    "Ask",
    "Downloaded",
    "Fetched",
    "Fetcher",
    "FetcherBusy",
    "Outbound",
    "Reason",
    "TargetRefusedError",
    "TargetTooLargeError",
    "TargetUnreachableError",
    "Told",
]
