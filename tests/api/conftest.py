"""The front under gunicorn, as a separate process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from shared.settings import Settings
from tests.batches import slices  # noqa: F401 - fixtures
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def port(front) -> int:
    """Run the front with the settings of this test and return its port."""
    return front.port


@dataclass(frozen=True, slots=True)
class Front:
    """A running front: two processes of four threads, and the master that they have."""

    port: int
    master: subprocess.Popen[bytes]


@pytest.fixture
def front(settings, tmp_path) -> Iterator[Front]:
    """Run gunicorn with the settings of this test."""
    with running_front(settings, tmp_path) as front:
        yield front


@contextmanager
def running_front(
    settings: Settings,
    folder: Path,
    *,
    processes: int = 2,
    listeners: Sequence[socket.socket] = (),
    **more: str,
) -> Iterator[Front]:
    """Run gunicorn within the block, also at other listeners; `more` are settings, by environment variable."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        (folder / "gunicorn.log").open("wb") as log,
    ):
        port: int = listener.getsockname()[1]
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "-c", "python:api.gunicorn_conf"),
                *(f"--bind=fd://{each.fileno()}" for each in (listener, *listeners)),
                "api.wsgi:app",
            ],
            cwd=ROOT,
            pass_fds=[each.fileno() for each in (listener, *listeners)],
            env={
                "PATH": os.environ["PATH"],
                "PRESSROOM_DATABASE_URL": settings.database_url,
                "PRESSROOM_REDIS_URL": settings.redis_url,
                "PRESSROOM_BLOB_URL": settings.blob_url,
                "PRESSROOM_METRICS_DIR": str(folder / "metrics"),
                "PRESSROOM_API_PROCESSES": str(processes),
                "PRESSROOM_API_CONNECTIONS": "600",
                "PRESSROOM_RENDER_BUDGET": "5",
                "PRESSROOM_ENFORCE_RATE_LIMITS": "false",
                "PRESSROOM_FETCHER_URL": settings.fetcher_url,
                "PRESSROOM_SECRET_KEYS": settings.secret_keys,
                **more,
            },
            stderr=log,
        )
        try:
            wait_until_it_answers(port)
            wait_until_each_has_begun(folder / "metrics", processes=processes)
            yield Front(port, process)
        finally:
            process.terminate()
            process.wait(60)


def wait_until_each_has_begun(metrics, *, processes):
    """Wait for all processes of a front: a signal to one that is still loading is lost."""
    wait_until(lambda: len(list(metrics.glob("gauge_livesum_*.db"))) == processes)


def wait_until_it_answers(port):
    def answers():
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return True
        return False

    wait_until(answers, pause=0.1)
