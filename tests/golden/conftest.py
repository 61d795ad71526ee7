"""The switch that writes the references anew: `make golden-update`."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--golden-update",
        action="store_true",
        help="write the golden references instead of comparing",
    )


@pytest.fixture
def is_update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--golden-update", default=False))
