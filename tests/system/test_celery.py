"""An operator starts, asks and steers workers with Celery's own commands, and watches them in flower."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.loopback import free_port
from shared.jobs.records import Purpose
from shared.queue.app import create_app
from shared.queue.names import BATCH, INTERACTIVE
from shared.queue.worker_presence import find_workers
from tests.farm.conftest import Front, environment
from tests.servers import RedisServer
from tests.waiting import wait_until

pytestmark = pytest.mark.long

CELERY = [sys.executable, "-m", "celery", "-A", "workers.farm.app"]
HELLO = "<document version='1'><flow><p>Hello</p></flow></document>"
# A document that takes seconds.
LONG = f"""<document version='1'><flow>{
    "".join(f"<p>Paragraph {n} of a long document.</p>" for n in range(20_000))
}</flow></document>"""


class Operator:
    """Runs Celery's commands in the environment of the worker, and asks as they do."""

    def __init__(self, given: dict[str, str]) -> None:
        self.environment = given
        self._app = create_app(given["PRESSROOM_REDIS_URL"])

    def ask(self, question: str) -> Any:
        """Return what the one worker answers to `inspect`, None where it does not."""
        replies = getattr(self._app.control.inspect(timeout=3), question)()
        return next(iter(replies.values())) if replies else None

    def run(self, *command: str) -> Any:
        """Return what a command prints as JSON."""
        done = subprocess.run(
            [*CELERY, *command, "--json", "--timeout=20"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        replies = json.loads(done.stdout)  # a list of them from `control`
        [reply] = (replies[0] if isinstance(replies, list) else replies).values()
        return reply


@contextmanager
def running(command: list[str], given: dict[str, str], log: Path) -> Iterator[subprocess.Popen]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env=given, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def worker_environment(
    redis_server: RedisServer, redis_url: str, migrated_database: Path, tmp_path: Path
) -> dict[str, str]:
    blobs = f"file://{tmp_path / 'blobs'}"
    return environment(redis_url, migrated_database, tmp_path, blobs) | {
        "PRESSROOM_TASK_EVENTS": "true",
        "PRESSROOM_LOG_LEVEL": "INFO",
    }


@pytest.fixture
def front(redis_url: str, tmp_path: Path) -> Iterator[Front]:
    front = Front(redis_url, f"file://{tmp_path / 'blobs'}")
    yield front
    front.redis.close()


@pytest.fixture
def worker(
    worker_environment: dict[str, str], front: Front, tmp_path: Path
) -> Iterator[subprocess.Popen]:
    command = [*CELERY, "worker", "-Q", "interactive,validate", "-c", "1", "-n", "one@%h"]
    with running(command, worker_environment, tmp_path / "worker.log") as process:
        wait_until(lambda: process.poll() is not None or find_workers(front.redis))
        assert process.poll() is None, (tmp_path / "worker.log").read_text()
        # Remote control is a broadcast: who has not subscribed yet does not hear it.
        wait_until(lambda: Operator(worker_environment).ask("ping"))
        yield process


@pytest.fixture
def operator(worker: subprocess.Popen, worker_environment: dict[str, str]) -> Operator:
    return Operator(worker_environment)


def test_a_worker_that_celery_starts_renders_and_is_inspected(
    operator: Operator, front: Front
) -> None:
    assert front.render(HELLO).pages == 1
    assert operator.run("inspect", "ping") == {"ok": "pong"}
    names = [queue["name"] for queue in operator.ask("active_queues")]
    assert names == ["interactive", "validate"]
    assert set(operator.ask("registered")) >= {"pressroom.render", "pressroom.slice"}
    stats = operator.ask("stats")
    assert stats["total"] == {"pressroom.render": 1}
    assert stats["pool"]["max-concurrency"] == 1
    assert len(stats["pool"]["processes"]) == 1


def test_running_tasks_are_shown_without_their_documents(operator: Operator, front: Front) -> None:
    job = front.send(LONG)
    wait_until(lambda: find_workers(front.redis)[0].busy == 1)
    [active] = operator.ask("active")
    assert (active["id"], active["name"]) == (job.id, "pressroom.render")
    assert "Paragraph" not in json.dumps(active)
    assert operator.ask("reserved") == []


def test_a_queue_is_cancelled_and_added_by_control(operator: Operator, front: Front) -> None:
    assert "ok" in operator.run("control", "cancel_consumer", INTERACTIVE)
    waiting = front.send(HELLO)
    assert front.wait(waiting, seconds=3) is None
    assert front.render(HELLO, purpose=Purpose.VALIDATE).findings["valid"]
    assert front.redis.llen(INTERACTIVE) == 1
    assert "ok" in operator.run("control", "add_consumer", INTERACTIVE)
    assert front.wait(waiting) is not None
    assert "ok" in operator.run("control", "add_consumer", BATCH)
    names = [queue["name"] for queue in operator.ask("active_queues")]
    assert sorted(names) == ["batch", "interactive", "validate"]


def test_a_worker_is_shut_down_by_control(
    operator: Operator, worker: subprocess.Popen, front: Front
) -> None:
    done = subprocess.run(
        [*CELERY, "control", "shutdown"],
        env=operator.environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert worker.wait(60) == 0, done.stderr
    assert not find_workers(front.redis)


def test_flower_shows_finished_renders(operator: Operator, front: Front, tmp_path: Path) -> None:
    port = free_port()
    command = [*CELERY, "flower", f"--port={port}", "--address=127.0.0.1"]
    given = operator.environment | {"FLOWER_UNAUTHENTICATED_API": "true"}
    with running(command, given, tmp_path / "flower.log"):
        wait_until(lambda: fetch(port, "/api/workers") is not None)

        def shows_task() -> bool:
            job = front.send(HELLO)
            assert front.wait(job).pages == 1
            tasks = fetch(port, "/api/tasks") or {}
            assert "Hello" not in json.dumps(tasks)
            # A task whose first events flower missed has no name there.
            shown = {(task["name"], task["state"]) for task in tasks.values()}
            return ("pressroom.render", "SUCCESS") in shown

        wait_until(shows_task)


def fetch(port: int, path: str) -> Any:
    """Return what flower answers as JSON, None while it does not."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return json.loads(answer.read())
    except OSError:
        return None
