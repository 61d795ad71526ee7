"""Transactions that change templates, with invalidation of cached references."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from api.auth.guard import Principal
from api.ports import Ports
from shared.db.session import Session


@contextmanager
def change_templates(principal: Principal, ports: Ports) -> Iterator[Session]:
    """Open a transaction that changes an account's contents, versions, tags or slugs.

    Cached references are dropped, so that the next render of every process sees the change.
    """
    account_id = principal.state.account_id
    ports.cell(account_id).template_pins.drop(account_id)
    with ports.database.session() as session:
        yield session
