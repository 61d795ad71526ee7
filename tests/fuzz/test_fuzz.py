"""Three seconds of mutated documents find nothing; `make fuzz` goes on for longer."""

from __future__ import annotations

import subprocess
import sys

from tests.fuzz.fuzz import ROOT


def test_three_seconds_of_mutations_find_nothing():
    command = [sys.executable, "tests/fuzz/fuzz.py", "--seconds", "3", "--seed", "2026"]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-2000:]
