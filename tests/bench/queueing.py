"""Hold the simulation of the queue against real workers with 1 and 2 slots: `make simulate`.

Redis, message, worker and reply are the product's; the work is sleep. Jobs are sent at random times. The
simulation is given when each came and how long it held its slot, and has to say how long each waited.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from deploy.embedded.leash import leashed
from deploy.embedded.valkey import free_port
from deploy.simulate.__main__ import main as print_table
from deploy.simulate.model import queue_up, summarise
from shared.db.migrate import upgrade
from tests.conftest import start_redis
from tests.farm.conftest import FAKE_WORKER, ROOT, Front

SERVICE = 0.08
BUSY = 0.7
JOBS = 400
SEED = 3
TOLERANCE = 0.2  # of the mean wait, and 10 ms


def main() -> int:
    """Print the table and the comparison; 1 when they differ by more than chance does."""
    print_table()
    print(
        f"\nMeasured {JOBS} sleeps of {SERVICE * 1000:g} ms (exponential), sent for slots {BUSY:.0%} busy:\n"
    )
    print("| slots | mean wait ms, measured | simulated | 99 % measured | simulated |")
    print("|--:|--:|--:|--:|--:|")
    return max(_compare(slots) for slots in (1, 2))


def _compare(slots: int) -> int:
    with tempfile.TemporaryDirectory(prefix="pressroom-queueing-") as folder:
        measured, jobs = _measure(slots, Path(folder))
    simulated = queue_up(slots, jobs)
    ours, theirs = summarise(measured), summarise(simulated)
    row = (ours.mean, theirs.mean, ours.p99, theirs.p99)
    print(f"| {slots} | " + " | ".join(f"{1000 * value:,.0f}" for value in row) + " |", flush=True)
    return int(abs(ours.mean - theirs.mean) > TOLERANCE * theirs.mean + 0.01)


def _measure(slots: int, folder: Path) -> tuple[list[float], list[tuple[float, float]]]:
    port = free_port()
    redis = start_redis(port, folder)
    database = f"sqlite:///{folder}/farm.sqlite"
    upgrade(database)
    front = Front(f"redis://127.0.0.1:{port}/0", f"file://{folder}/blobs")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_REDIS_URL": front.url,
        "PRESSROOM_DATABASE_URL": database,
        "PRESSROOM_BLOB_URL": front.blob_url,
        "PRESSROOM_WORKER_CONCURRENCY": str(slots),
        "PRESSROOM_LOG_LEVEL": "WARNING",
    }
    with (folder / "worker.log").open("wb") as log:
        command = leashed([sys.executable, str(FAKE_WORKER)])
        worker = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        assert front.render(budget=120.0).pages == 1
        # From one job's end to the next one's begin: the reply, the acknowledgement, the next message.
        between = statistics.median(_time(front, 0.0)[0] for _ in range(40))
        sent = _send(front, slots)
        waits = [max(waited - between, 0.0) for _, waited, _ in sent]
        return waits, [(at, took + between) for at, _, took in sent]
    finally:
        worker.terminate()
        worker.wait()
        front.redis.close()
        redis.kill()
        redis.wait()


def _send(front: Front, slots: int) -> list[tuple[float, float, float]]:
    """Send jobs and give of each when it came, how long it waited, and how long it held its slot."""
    chance = random.Random(SEED)
    done: dict[int, tuple[float, float, float]] = {}

    def follow(number: int, seconds: float) -> None:
        at = time.monotonic()
        done[number] = (at, *_time(front, seconds))

    threads = []
    due = time.monotonic()
    for number in range(JOBS):
        due += chance.expovariate(slots * BUSY / SERVICE)
        seconds = chance.expovariate(1 / SERVICE)
        time.sleep(max(due - time.monotonic(), 0))
        threads.append(threading.Thread(target=follow, args=(number, seconds)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return sorted(done.values())


def _time(front: Front, seconds: float) -> tuple[float, float]:
    """Run a job and give how long it waited, as the worker says, and how long it was at work."""
    begun = time.monotonic()
    outcome = front.render(f"sleep {seconds}", budget=120.0)
    assert outcome is not None, "a job was lost"
    assert outcome.pages == 1
    waited = outcome.timings["queue"] / 1000
    return waited, time.monotonic() - begun - waited


if __name__ == "__main__":
    sys.exit(main())
