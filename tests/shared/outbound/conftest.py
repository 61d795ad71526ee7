"""The way out, as the tests take it: to servers on loopback."""

from __future__ import annotations

import pytest

from shared.outbound import Outbound


@pytest.fixture
def outbound() -> Outbound:
    """Return the outbound client that admits loopback."""
    return Outbound(allow_private=True)
