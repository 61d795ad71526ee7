"""The one way out: every address that a client gives is fetched or called through here (hazards.md 5)."""

from shared.outbound.client import Answered, Downloaded, Fetched, Outbound
from shared.outbound.failures import TargetRefusedError, TargetTooLargeError, TargetUnreachableError

__all__ = [
    "Answered",
    "Downloaded",
    "Fetched",
    "Outbound",
    "TargetRefusedError",
    "TargetTooLargeError",
    "TargetUnreachableError",
]
