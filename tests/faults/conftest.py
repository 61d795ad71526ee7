"""The size of the runs: `make test-faults` passes `--faults-scale 1`, CI a fiftieth of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.plan import ROOT
from tests.faults.checker import find_violations
from tests.faults.disks import mounted
from tests.faults.farm import FaultyFarm
from tests.faults.figures import TITLE, describe
from tests.runs import keep_run
from tests.webhooks.conftest import blobs, outbox, start_process  # noqa: F401 - fixtures
from tests.webhooks.test_destinations import certificate, host_key, trusted  # noqa: F401

LINES = pytest.StashKey[list[str]]()
# Imported by every Python process of the farm before anything else: `change` is given a module as it is loaded.
HOOK = """
import importlib.abc, importlib.util, os, pathlib, signal, sys, time

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (load(module), change(module))
        return spec

sys.meta_path.insert(0, Finder())
"""


def change_module(folder: Path, name: str, change: str) -> str:
    """Write the source of `change` for a module, and return the `PYTHONPATH` that has a farm use it."""
    (folder / "sitecustomize.py").write_text(f"NAME = {name!r}\n{HOOK}{change}")
    return f"{folder}{os.pathsep}{ROOT}"


@pytest.fixture
def scaled(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Provide a function that scales a number of the full run to this run."""
    scale: float = request.config.getoption("--faults-scale")
    return lambda full: max(1, round(full * scale))


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., FaultyFarm]]:
    """Provide a function that starts a farm for this test and reports its figures at the end."""
    lines = request.config.stash.setdefault(LINES, [])
    with ExitStack() as stack:

        def start(*, shards: int | None = None, **environment: str) -> FaultyFarm:
            launched = stack.enter_context(
                launched_farm(tmp_path / "farm", environment=environment, shards=shards)
            )
            farm = FaultyFarm(launched, tmp_path)
            stack.callback(
                lambda: lines.append(describe(request.node.name, farm.history, farm.faults))
            )
            return farm

        yield start


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a new file system of 16 MB."""
    with mounted(tmp_path / "disk", megabytes=16) as disk:
        yield disk


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report the result of each run."""
    if lines := terminalreporter.config.stash.get(LINES, []):
        terminalreporter.section("faults")
        for line in (TITLE, *lines):
            terminalreporter.line(line)


def assert_sound(farm: FaultyFarm) -> None:
    """Compare what clients saw with what the farm holds, once it is quiet."""
    violations = find_violations(farm.history, farm.settle())
    assert violations == [], f"{len(violations)} violations; history in {farm.history.path}"
    keep_run(
        "faults",
        os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].rpartition(" ")[0],
        requests=len(farm.history),
        done=farm.history.count(200, 201, 202),
        faults=farm.faults,
    )
