"""The faults of the promise "nothing is lost, nothing is counted twice", made to happen for real."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from deploy.embedded.demo.show import launched_farm
from tests.faults.clients import Client, Crowd, render_patiently
from tests.faults.conftest import assert_sound, change_module
from tests.faults.farm import FaultyFarm, children_of
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

# Two documents that bring their process down.
POISON = """
def change(pipeline):
    render = pipeline.render

    def poisoned(template, payload, **options):
        body = payload.body if payload else b""
        if b"POISON-KILL" in body:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"POISON-HANG" in body:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            time.sleep(3600)
        return render(template, payload, **options)

    pipeline.render = poisoned
"""


def test_workers_are_killed_every_two_seconds(start, scaled) -> None:
    farm = start()
    chance = random.Random(7)
    with Crowd(farm.client, clients=16, total=scaled(5000), act=lambda client, n: client.render(n)):
        for _ in range(max(scaled(60), 4)):
            farm.kill_some_worker(chance)
            time.sleep(2)
            await_renders(farm, 32)  # one whose process is killed twice is given up
    assert farm.history.count(200) == len(farm.history) >= scaled(5000)
    assert_sound(farm)


def test_a_worker_is_frozen_past_its_lease_and_released(start, scaled) -> None:
    farm = start(PRESSROOM_WORKER_CONCURRENCY="1")
    for number in range(max(scaled(100), 2)):
        main = farm.processes["worker"]
        frozen = [main, *children_of(main)]
        asking = threading.Thread(
            target=farm.client().render, args=(number,), kwargs={"text": "x " * 40_000}
        )
        asking.start()
        time.sleep(0.15)  # its render has started
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        farm.faults += 1
        time.sleep(6.5)
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        asking.join(90)
    assert {entry.status for entry in farm.history} == {200}
    assert_sound(farm)


@pytest.mark.alone
def test_documents_that_bring_their_process_down_harm_no_other(start, scaled, tmp_path) -> None:
    path = change_module(tmp_path, "workers.engine.pipeline", POISON)
    farm = start(PYTHONPATH=path, PRESSROOM_RENDER_BUDGET="6")
    total, poisoned = scaled(1000), max(scaled(20), 2)
    calm = timed_renders(farm, total)
    every = total // poisoned
    spoilt: list[int | None] = []

    def act(client: Client, number: int) -> None:
        if number % every == every - 1:
            word = "POISON-KILL" if (number // every) % 2 else "POISON-HANG"
            spoilt.append(client.render(number, text=word).status)
        else:
            client.render(number)

    begun = len(farm.history)
    with Crowd(farm.client, clients=2, total=total, act=act):
        pass
    entries = [entry for entry in list(farm.history)[begun:] if entry.status == 200]
    assert len(entries) == total - len(spoilt)
    assert set(spoilt) <= {500, 504}
    good = sorted(entry.ended - entry.started for entry in entries)
    # Two slots: while one is taken by a document that hangs, the other continues.
    assert percentile(good, 0.90) <= 2 * percentile(calm, 0.99) + 0.25
    assert_sound(farm)


def test_everything_is_terminated_in_turn(start, scaled) -> None:
    farm = start()
    with Crowd(farm.client, clients=4, total=scaled(1000), act=render_patiently):
        for name in farm.processes:
            pid = farm.kill(name, signal.SIGTERM)
            wait_until(lambda name=name, pid=pid: farm.processes.get(name, pid) != pid)
            time.sleep(1)
    assert farm.history.count(200) >= scaled(1000)
    assert {entry.status for entry in farm.history} <= {200, 503, None}
    assert_sound(farm)


def test_clients_break_off_at_random(start, scaled) -> None:
    farm = start()
    chance = random.Random(11)

    def act(client: Client, number: int) -> None:
        if chance.random() < 0.3:
            client.render(number, breaks_off=chance.random() * 0.02)
        else:
            client.render(number)

    with Crowd(farm.client, clients=8, total=scaled(3000), act=act):
        pass
    assert farm.history.count(200) + farm.history.count(None) == len(farm.history) >= scaled(3000)
    assert farm.history.count(None) > len(farm.history) * 0.2
    assert_sound(farm)


def test_a_killed_supervisor_leaves_no_process_and_loses_no_page(start) -> None:
    def act(client: Client, number: int) -> None:
        if client.render(number).status != 200:
            time.sleep(0.1)

    farm = start()
    with Crowd(farm.client, clients=4, total=0, act=act):
        wait_until(lambda: farm.history.count(200) > 20)
        groups = {farm.farm.supervisor.pid, *farm.processes.values()}
        assert len(members_of(groups)) > len(groups)  # gunicorn's and Celery's children are seen
        farm.farm.supervisor.kill()
        farm.farm.supervisor.wait()
        farm.faults += 1
        wait_until(lambda: not members_of(groups))
    with launched_farm(farm.farm.folder.path) as farm.farm:
        assert_sound(farm)


def await_renders(farm: FaultyFarm, count: int) -> None:
    """Wait until so many more renders are answered, with 16 clients all that were under way among them."""
    wanted = len(farm.history) + count
    wait_until(lambda: len(farm.history) >= wanted)


def members_of(groups: set[int]) -> list[int]:
    """Return the ids of all living processes of these process groups, threads and zombies apart."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if entry.name.isdigit():
                state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                if int(group) in groups and state not in "ZX":
                    found.append(int(entry.name))
    return found


def timed_renders(farm: FaultyFarm, total: int) -> list[float]:
    begun = len(farm.history)
    with Crowd(farm.client, clients=2, total=total, act=lambda client, n: client.render(n)):
        pass
    return sorted(entry.ended - entry.started for entry in list(farm.history)[begun:])


def percentile(times: list[float], share: float) -> float:
    return times[min(int(len(times) * share), len(times) - 1)]
