"""Tasks run in one chunk of memory for frames: no call below them maps and unmaps another."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path


def test_a_task_without_memory_ends_its_process_alone():
    # Celery ends the whole worker for a task that raises it.
    script = "from workers.farm.tasks import with_frame_memory as task\n@task\ndef work():\n    raise MemoryError\nwork()"
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
    assert ended.returncode == -signal.SIGKILL
