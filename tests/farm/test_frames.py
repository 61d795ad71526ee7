"""Tasks run in one chunk of memory for frames: no call below them maps and unmaps another."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_THREAD, getrusage

from celery import Celery

from shared.queue.names import ASSEMBLE_TASK, JOBS_TASK, RENDER_TASK, SLICE_TASK
from workers.farm.tasks import register_batch_tasks, register_tasks, with_frame_memory

DEPTHS = range(200)  # more than fill a chunk of 16 KB
CALLS = 100


def call_often() -> None:
    """Call a function that calls another one, as often as each of the calls may cross the end of a chunk."""
    for _ in range(CALLS):
        call_at(2, lambda: None)


def call_at(depth: int, function: Callable[[], None]) -> None:
    if depth:
        call_at(depth - 1, function)
    else:
        function()


def most_faults(function: Callable[[], None]) -> int:
    """Return the page faults of a function, at the depth at which they are most: each new chunk has some."""
    counted = []
    for depth in DEPTHS:
        begun = getrusage(RUSAGE_THREAD).ru_minflt
        call_at(depth, function)
        counted.append(getrusage(RUSAGE_THREAD).ru_minflt - begun)
    return max(counted)


def test_no_call_below_a_task_maps_memory_for_frames():
    @with_frame_memory
    def task() -> None:
        call_often()

    assert most_faults(call_often) > CALLS / 2  # what it is good for
    assert most_faults(task) < CALLS / 4


def test_every_task_has_memory_for_frames():
    app = Celery(set_as_current=False)
    register_tasks(app, lambda: None)
    register_batch_tasks(app, lambda: None, lambda: None)
    for name in (RENDER_TASK, SLICE_TASK, JOBS_TASK, ASSEMBLE_TASK):
        assert app.tasks[name].run.__wrapped__.__code__.co_stacksize > 16_384


def test_a_task_without_memory_ends_its_process_alone():
    # Celery ends the whole worker for a task that raises it.
    script = "from workers.farm.tasks import with_frame_memory as task\n@task\ndef work():\n    raise MemoryError\nwork()"
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
    assert ended.returncode == -signal.SIGKILL
