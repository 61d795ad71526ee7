"""What code that runs in a rendering process could do, and what it could read."""

from __future__ import annotations

import errno
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from shared.limits import GB, MB
from tests.farm.conftest import ROOT, Workers


@pytest.fixture
def revealed(front, worker_environment, tmp_path):
    """Have a worker render, and return what its process found."""
    workers = Workers(tmp_path, worker_environment)
    workers.start(child_memory_mb="600", child_max_jobs="100")
    try:
        assert front.render(f"reveal {tmp_path / 'found'}").pages == 1
        return json.loads((tmp_path / "found").read_text())
    finally:
        workers.kill_all()


def test_a_document_that_took_control_of_a_process_gets_nowhere(
    front, worker_environment, tmp_path
):
    outside = Path("/var/tmp", f"{tmp_path.name}-{uuid4()}")
    workers = Workers(tmp_path, worker_environment)
    workers.start(child_memory_mb="600", child_max_jobs="100")
    try:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            assert front.render(f"escape {tmp_path / 'found'} {outside} {port}").pages == 1
    finally:
        workers.kill_all()
    refused = dict.fromkeys(("execute", "write", "connect", "listen", "read"), errno.EACCES)
    found = json.loads((tmp_path / "found").read_text())
    assert found == refused | {"signal": errno.EPERM}
    assert not outside.exists()


def test_a_rendering_process_gains_no_privileges_and_has_hard_limits(revealed):
    assert "NoNewPrivs:\t1\n" in revealed["status"]
    limits = revealed["limits"]
    assert limits["AS"] == [600 * MB] * 2
    assert limits["FSIZE"] == [8 * GB] * 2
    assert limits["CORE"] == [0, 0]
    soft, hard = limits["CPU"]
    assert 0 < soft < hard != resource.RLIM_INFINITY
    assert 256 < limits["NPROC"][1] < 100_000


def test_a_rendering_process_has_no_address_of_a_store(revealed, worker_environment):
    texts = "\n".join(revealed["environment"])
    assert not [name for name in revealed["environment"] if name.startswith("PRESSROOM_")]
    for name, value in worker_environment.items():
        if name.startswith("PRESSROOM_") and "URL" in name:
            assert value not in texts, name
    assert "PATH" in os.environ.keys() & set(revealed["environment"])


def test_threads_of_a_worker_reserve_no_memory_of_its_children():
    def grown(set_up: str) -> int:
        run = [
            sys.executable,
            "-c",
            f"from workers.render.confinement import *\n{set_up}\n{_THREADS}",
        ]
        return int(subprocess.run(run, cwd=ROOT, check=True, capture_output=True).stdout)

    assert grown("") > 256 * MB
    assert grown("share_malloc_arena()") < 64 * MB


_THREADS = """
import threading
from pathlib import Path

def mapped():
    return int(Path("/proc/self/statm").read_text().split()[0]) * 4096

threading.stack_size(256 * 1024)
before, work = mapped(), threading.Barrier(9)

def allocate():
    bytearray(10_000)
    work.wait()
    work.wait()

for _ in range(8):
    threading.Thread(target=allocate, daemon=True).start()
work.wait()
print(mapped() - before)
work.wait()
"""
