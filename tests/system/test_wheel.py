"""The wheel is all that an empty environment needs to run a farm."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.deployment import build_wheel

LOCK = Path(__file__).parents[2] / "requirements.lock"


@pytest.mark.long
@pytest.mark.services  # needs an index of packages
def test_a_farm_runs_from_the_wheel_in_an_empty_environment(tmp_path):
    python = os.environ.get("PRESSROOM_TEST_PYTHON", sys.executable)
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    install = [tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", "--use-pep517"]
    subprocess.run([*install, "--require-hashes", "-r", LOCK], check=True)
    subprocess.run([*install, "--no-deps", build_wheel(tmp_path)], check=True)
    environment = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    command = [tmp_path / "venv/bin/pressroom", "demo", "-o", tmp_path / "demo"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "demo").glob("*.pdf"))) == 4
