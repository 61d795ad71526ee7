"""Guarded HTTP requests to URLs given by clients (SSRF protection)."""

from shared.outbound.client import CachingInfo, DownloadResult, FetchResult, Outbound, PostResult
from shared.outbound.failures import (
    NotCachedError,
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.outbound.fetcher import Fetcher, FetcherBusy, FetchRequest

__all__ = [
    "CachingInfo",
    "DownloadResult",
    "FetchRequest",
    "FetchResult",
    "Fetcher",
    "FetcherBusy",
    "NotCachedError",
    "Outbound",
    "PostResult",
    "Reason",
    "TargetRefusedError",
    "TargetTooLargeError",
    "TargetUnreachableError",
]
