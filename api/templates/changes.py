"""Changing what template references name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from api.auth.guard import Principal
from api.ports import Ports
from shared.db.session import Session


@contextmanager
def change_templates(principal: Principal, ports: Ports) -> Iterator[Session]:
    """Open the unit of work of every change to an account's contents, versions, tags or slugs.

    The next render of any process reads what it leaves behind.
    """
    account_id = principal.state.account_id
    ports.cell(account_id).template_pins.drop(account_id)
    with ports.database.session() as session:
        yield session
