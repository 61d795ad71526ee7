"""A process loads no library that it has no use for: each costs memory in every copy of the process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What renders; the parent of workers loads it before its fork, but for what few documents need.
ENGINE = {
    *("numpy", "reportlab", "openpyxl", "lxml", "PIL", "pikepdf", "fontTools", "babel"),
    *("uharfbuzz", "pypdfium2", "workers.engine"),
}
WEB = {"flask", "werkzeug", "gunicorn"}
STORES = {"sqlalchemy", "redis", "celery"}
# Libraries of extras, without which the farm of `pip install pressroom` starts.
EXTRAS = {"authlib", "pygls", "pyhanko", "saxonche", "mcp", "argcomplete"}
UNUSED = {
    "api.app": ENGINE,
    "workers.farm.worker": {"numpy", "openpyxl"} | WEB,
    "workers.counter.main": ENGINE | WEB | {"celery"},
    "workers.maintenance.main": ENGINE | WEB,
    "workers.webhooks.main": ENGINE | WEB | {"redis", "celery"},
    "workers.fetcher.main": ENGINE | WEB | STORES,
    "workers.signer.main": ENGINE | WEB | STORES,
    "deploy.cli.up": ENGINE | WEB | STORES,
}


@pytest.mark.parametrize("module", UNUSED)
def test_a_process_loads_only_what_it_uses(module):
    script = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    unused = UNUSED[module] | EXTRAS - ({"pyhanko"} if "signer" in module else set())
    assert not unused & set(done.stdout.split())
