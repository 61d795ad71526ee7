"""The rate limit of an account, as it is stored and as the API shows it."""

from __future__ import annotations

import re
from typing import Annotated, Final

from shared.records import ShownRecord, doc

_WINDOWS: Final = {"second": 1, "minute": 60}
_RATE: Final = re.compile(r"([1-9][0-9]{0,8})/(second|minute)\Z")


class Rate(ShownRecord, frozen=True):
    """The most requests in any window of `window_seconds`; they may come in one burst."""

    requests: Annotated[int, doc("Maximum number of requests in a window.", minimum=1)]
    window_seconds: Annotated[int, doc("Length of the window in seconds.", minimum=1)]


def parse_rate(text: str) -> Rate:
    """Parse `N/second` or `N/minute`.

    Raises:
        ValueError: the text has neither form.
    """
    found = _RATE.match(text)
    if found is None:
        raise ValueError(f"{text!r} is not of the form N/second or N/minute")
    return Rate(int(found[1]), _WINDOWS[found[2]])
