"""The templates that keep layouts: those that this process used last.

A worker may have compiled thousands of templates; what they keep is a megabyte each at most.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from workers.engine.tree.document import KeptLayout

MAX_TEMPLATES: Final = 16

_RECENT: Final[WeakKeyDictionary[KeptLayout, None]] = (
    WeakKeyDictionary()
)  # the last one is the newest


def use_kept(kept: KeptLayout) -> KeptLayout:
    """Return what a template keeps, and empty what the one used longest ago has kept."""
    _RECENT.pop(kept, None)
    _RECENT[kept] = None
    if len(_RECENT) > MAX_TEMPLATES:
        oldest = next(iter(_RECENT))
        del _RECENT[oldest]
        oldest.clear()
    return kept
