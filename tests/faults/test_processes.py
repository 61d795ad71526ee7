"""Each process of a farm is killed under every kind of load, and the counter over and over."""

from __future__ import annotations

import json
import random
import signal
import time
from contextlib import ExitStack, suppress

import pytest

from deploy.embedded.demo.show import launched_farm
from tests.faults.clients import Client, Crowd, render_patiently
from tests.faults.conftest import assert_sound
from tests.faults.farm import render_answers
from tests.servers import Server
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.long]

TOLD_SECONDS = 120
RECOVERED_SECONDS = 30


def test_every_process_is_killed_in_turn_with_batches_and_webhooks(start, scaled, serve) -> None:
    listener = serve(b"HTTP/1.1 204 No Content\r\n\r\n")
    farm = start(PRESSROOM_OUTBOUND_ALLOW_PRIVATE="true")
    hook = {"url": listener.url()}
    headers = {"Content-Type": "application/json"}
    made = farm.client().ask("POST", "/v2/webhooks", json.dumps(hook).encode(), **headers)
    assert made is not None
    assert made["status"] == 201
    template = farm.store_template()
    batches = [
        farm.client().submit(template, max(scaled(1500), 100), output)
        for output in ("files", "merged")
    ]
    assert {batch.status for batch in batches} == {202}

    def act(client: Client, number: int) -> None:
        if number % 4:
            render_patiently(client, number)
        elif client.accept(number).status == 503:
            time.sleep(0.3)

    processes = [name for name in farm.processes if not name.startswith("redis")]
    chance = random.Random(13)
    with Crowd(farm.client, clients=4, total=scaled(1500), act=act):
        for _ in range(max(scaled(4), 1)):
            for name in processes:
                farm.kill(name)
                time.sleep(0.5)
                wait_until(lambda: render_answers(farm), seconds=RECOVERED_SECONDS)
                farm.kill_some_child("front", chance)
                time.sleep(0.5)
    assert {entry.status for entry in farm.history} <= {200, 202, 503, None}
    assert_sound(farm)
    state = farm.read_state()
    assert {status for status, _ in state.jobs.values()} == {"succeeded"}
    due = {("job.succeeded", job_id) for job_id in state.jobs}
    due |= {("batch.finished", batch.batch_id or "") for batch in batches}
    wait_until(lambda: read_events(listener) >= due, seconds=TOLD_SECONDS)
    assert read_events(listener) == due


def read_events(listener: Server) -> set[tuple[str, str]]:
    """Return the kind of each webhook that came whole, and whose it is."""
    found = set()
    for request in list(listener.requests):
        with suppress(ValueError):  # whoever sent it was killed
            said = json.loads(request.partition(b"\r\n\r\n")[2])
            found.add((said["type"], said["data"]["id"]))
    return found


def test_the_counter_is_killed_over_and_over(start, scaled) -> None:
    farm = start()
    chance = random.Random(17)
    with Crowd(farm.client, clients=8, total=scaled(3000), act=lambda client, n: client.render(n)):
        for _ in range(max(scaled(20), 3)):
            farm.kill("background")
            # Some die at their first event, some in the middle, some before they count at all.
            wait_until(lambda: "background" in farm.processes)
            time.sleep(chance.random() * 4)
    assert farm.history.count(200) == len(farm.history) >= scaled(3000)
    assert_sound(farm)


def test_renders_that_a_second_signal_cuts_off_are_metered_only_if_sent(start, scaled) -> None:
    def act(client: Client, number: int) -> None:
        if client.render(number).status is None:
            time.sleep(0.1)

    farm = start()
    with ExitStack() as restarted:
        for _ in range(max(scaled(20), 2)):
            with Crowd(farm.client, clients=8, total=0, act=act):
                wait_until(lambda: render_answers(farm))
                for _ in range(2):
                    farm.farm.supervisor.send_signal(signal.SIGTERM)
                    time.sleep(0.2)  # some renders are in progress
                    farm.faults += 1
                assert farm.farm.supervisor.wait(30) == 0
            farm.farm = restarted.enter_context(launched_farm(farm.farm.folder.path))
            assert_sound(farm)
            answered = {entry.job_id for entry in farm.history if entry.status == 200}
            assert {job_id for job_id, _ in farm.read_state().ledger} == answered
    assert farm.history.count(503) > 0
