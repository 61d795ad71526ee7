"""Guarded HTTP requests to URLs given by clients (SSRF protection)."""

from shared.outbound.client import CachingInfo, DownloadResult, Outbound, PostResult
from shared.outbound.fetcher import Fetcher, FetcherBusy, FetchRequest
from shared.outbound.targets import (
    NotCachedError,
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
