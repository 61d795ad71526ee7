"""The bench runs: what it calls of the engine may be renamed, and nobody would see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).with_name("engine.py")
SCRIPTS = Path(__file__).with_name("scripts.py")


def test_bench_measures_our_engine():
    done = subprocess.run(
        [sys.executable, ENGINE, "--ours", "--only", "invoice"],
        check=True,
        capture_output=True,
        text=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if "| Pressroom |" in line]
    milliseconds, pages = float(line.split("|")[3]), line.split("|")[5].strip()
    assert milliseconds > 0
    assert pages == "1"


def test_bench_measures_every_script():
    done = subprocess.run(
        [sys.executable, SCRIPTS, "--repeats", "1"], check=True, capture_output=True, text=True
    )
    assert len([line for line in done.stdout.splitlines() if " | × " in line]) == 10
