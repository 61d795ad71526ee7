"""SQL conditions that select the accounts of a shard (`shared.shards`)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import ColumnElement, func, true

from shared.shards import SLOT_LENGTH


def belongs_to_slots(
    account_id: ColumnElement[Any], slots: AbstractSet[str] | None
) -> ColumnElement[bool]:
    """Return the condition that an account is in one of `slots`; None means every account."""
    if slots is None:
        return true()
    return slot_expression(account_id).in_(sorted(slots))


def slot_expression(account_id: ColumnElement[Any]) -> ColumnElement[str]:
    """Return `shared.shards.slot_of` as an SQL expression."""
    return func.substr(account_id, func.length(account_id) - (SLOT_LENGTH - 1))
