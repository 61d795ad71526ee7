"""The render worker: `python -m workers.farm.main` starts one, with its child processes.

It is `celery -A workers.farm.app worker` with the options that suit a farm of several workers.
"""

from __future__ import annotations

import gc
import os

from celery import Celery


def main() -> None:
    """Run a worker with the document engine until SIGTERM."""
    gc.disable()  # until its modules are imported, of which nothing is garbage

    from workers.farm.app import app

    run_worker(app)


def run_worker(app: Celery) -> None:
    """Run a worker of an application until SIGTERM."""
    # Workers do not exchange events: they report to Redis. Several on one machine need distinct names
    # for `celery inspect`.
    app.worker_main(
        ["--quiet", "worker", f"--hostname=worker-{os.getpid()}@%h",
         "--without-gossip", "--without-mingle", "--without-heartbeat"]
    )  # fmt: skip


if __name__ == "__main__":
    main()
