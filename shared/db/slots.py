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
    return write_slot(account_id).in_(sorted(slots))


def write_slot(account_id: ColumnElement[Any]) -> ColumnElement[str]:
    """Write `shared.shards.slot_of` as the database computes it."""
    return func.substr(account_id, func.length(account_id) - (SLOT_LENGTH - 1))
