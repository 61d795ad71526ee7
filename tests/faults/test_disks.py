"""A disk is full: requests that need space are refused, no process ends, and service continues by itself."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.faults.clients import Client
from tests.faults.conftest import assert_sound
from tests.faults.disks import fill, mounted, picture
from tests.faults.farm import FaultyFarm, read_problems, scrape
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

REFUSED = {503, 507}
SECONDS_TO_RECOVER = 15


def test_a_full_data_folder_rejects_writes_and_ends_no_process(start, tmp_path):
    with mounted(tmp_path / "farm", megabytes=48) as disk:
        farm = start()
        client = farm.client()
        template = farm.store_template()
        assert client.render(0).status == 200
        before = farm.processes
        filler = fill(disk)
        wait_until_refused(client)
        assert {each.status for each in ask_for_everything(client, template)} <= REFUSED
        # What needs no space is served, and a process that dies is started again.
        assert client.ask("GET", "/v2/templates")["status"] == 200
        farm.kill("background")
        time.sleep(3)
        problems = read_problems(farm)
        assert any(str(disk) in problem and "full" in problem for problem in problems)
        assert any("Redis has no space left" in problem for problem in problems)
        assert farm.farm.supervisor.poll() is None

        filler.unlink()
        wait_until_served(client)
        assert client.submit(template, 3).status == 202
        wait_until(lambda: farm.processes.get("background") != before["background"])
        assert_same_processes(farm, before, besides={"background"})
        assert count_requests(farm) >= 9  # those that were refused too
        wait_until(lambda: not read_problems(farm))
        assert_sound(farm)


def test_a_full_disk_of_redis_refuses_renders_until_there_is_space(start, tmp_path):
    with mounted(tmp_path / "farm" / "redis", megabytes=4) as disk:
        farm = start()
        client = farm.client()
        assert client.render(0).status == 200
        before = farm.processes
        filler = fill(disk)
        wait_until_refused(client)
        assert client.render(2).status in REFUSED
        assert any("Redis has no space left" in each for each in read_problems(farm))

        filler.unlink()
        wait_until_served(client)
        assert_same_processes(farm, before)
        assert_sound(farm)


def test_a_full_temporary_disk_rejects_only_requests_that_need_it(start, small_disk):
    farm = start(TMPDIR=str(small_disk))
    client = farm.client()
    template = farm.store_template()
    before = farm.processes
    filler = fill(small_disk)
    large = "<!--" + "x" * 5_000_000 + "-->"
    assert client.render(1, text=large).status in REFUSED
    assert client.render(2).status == 200
    batch = client.submit(template, 20)
    assert batch.status == 202

    filler.unlink()
    wait_until(lambda: client.render(3, text=large).status == 200, seconds=SECONDS_TO_RECOVER)
    assert_same_processes(farm, before)
    assert_sound(farm)
    state = farm.read_state()
    assert state.batches[batch.batch_id or ""][2] == {"succeeded": 20}


def ask_for_everything(client: Client, template: str) -> list[Any]:
    return [
        each
        for number in range(3)
        for each in (
            client.render(number),
            client.accept(number),
            client.submit(template, 3),
            client.upload(f"image-{number}", picture(number)),
        )
    ]


def wait_until_refused(client: Client) -> None:
    """Render until the bytes are used up that are left in the last blocks of files."""
    wait_until(lambda: client.render(1).status in REFUSED)


def wait_until_served(client: Client) -> None:
    seconds = SECONDS_TO_RECOVER
    wait_until(lambda: client.render(1).status == 200, seconds=seconds)
    wait_until(lambda: client.accept(2).status == 202, seconds=seconds)


def assert_same_processes(
    farm: FaultyFarm,
    before: dict[str, int],
    *,
    besides: set[str] = frozenset(),  # type: ignore[assignment]
) -> None:
    after = farm.processes
    assert {name for name in before if after.get(name) != before[name]} == set(besides)


def count_requests(farm: FaultyFarm) -> float:
    """Return how many renders the front says it has answered."""
    return sum(scrape(farm, "front", "pressroom_http_requests_total", 'route="/v2/pdf"'))
