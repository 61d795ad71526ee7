"""The switch that updates the references: `make golden-update`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden.case import Case
from tests.golden.report import REPORT, write_report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--golden-update",
        action="store_true",
        help="write the golden references instead of comparing",
    )


@pytest.fixture
def is_update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--golden-update", default=False))


@pytest.fixture(scope="session")
def failed() -> Iterator[dict[Case, str]]:
    """Collect the cases that are laid out otherwise, for one report at the end."""
    cases: dict[Case, str] = {}
    yield cases
    if cases:
        write_report(cases)
    else:
        REPORT.unlink(missing_ok=True)
