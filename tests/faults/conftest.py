"""How large the runs are: `--faults-scale 1` is what `make test-faults` asks for, CI a fiftieth of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.embedded.launch import LaunchedFarm, launched_farm
from tests.faults.checker import find_violations
from tests.faults.farm import FaultyFarm


@pytest.fixture
def scaled(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Give a function that makes a number of the full run one of this run."""
    scale: float = request.config.getoption("--faults-scale")
    return lambda full: max(1, round(full * scale))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., FaultyFarm]]:
    """Give a function that starts a farm of this test's own."""
    running: list[tuple[object, LaunchedFarm]] = []

    def start(*options: str, **environment: str) -> FaultyFarm:
        context = launched_farm(tmp_path / "farm", environment=environment)
        farm = context.__enter__()
        running.append((context, farm))
        return FaultyFarm(farm, tmp_path, "--plan", "paid", *options)

    yield start
    for context, _ in running:
        context.__exit__(None, None, None)  # type: ignore[attr-defined]


def assert_sound(farm: FaultyFarm) -> None:
    """Compare what clients saw with what the farm holds, once it is quiet."""
    violations = find_violations(farm.history, farm.settle())
    assert violations == [], f"{len(violations)} violations; history in {farm.history.path}"
