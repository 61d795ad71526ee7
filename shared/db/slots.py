"""Asking for what belongs to the accounts of one shard (`shared.shards`)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import ColumnElement, func, true

from shared.shards import SLOT_LENGTH


def lives_in(account_id: ColumnElement[Any], slots: AbstractSet[str] | None) -> ColumnElement[bool]:
    """Give the condition that an account falls to one of these slots; without any it always does."""
    if slots is None:
        return true()
    slot = func.substr(account_id, func.length(account_id) - (SLOT_LENGTH - 1))
    return slot.in_(sorted(slots))
