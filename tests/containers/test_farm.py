"""The farm of the compose file: served, harmed and upgraded, as its guides say."""

import json
import os
import signal
import time

import pytest

from tests.containers import podman
from tests.containers.conftest import LINES
from tests.containers.farm import PROJECT
from tests.deploy.deployment import PROCESSES
from tests.faults.clients import Crowd
from tests.waiting import wait_until

pytestmark = [pytest.mark.services, pytest.mark.long]

READY_SECONDS = 10  # of CPU: twice what is asked for, since others may be at work on the machine
# The time that all processes of a container have used; this one is no part of it.
USED = """
import os, pathlib
ticks = 0
for each in pathlib.Path("/proc").glob("[0-9]*/stat"):
    if each.parent.name != str(os.getpid()):
        ticks += sum(int(word) for word in each.read_text().rpartition(")")[2].split()[11:13])
print(ticks / os.sysconf("SC_CLK_TCK"))
"""
UP = "http://127.0.0.1:9090/api/v1/query?query=up"
READ = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=5).read().decode())"


def test_a_farm_by_the_compose_file_renders_behind_its_proxy(farm, tenant):
    assert tenant.client().render(1).status == 200
    for name in PROCESSES:
        farm.wait_for(name)
    for name in ("front", "worker"):
        assert farm.execute(name, "id", "-u") == "10001"
        assert "Read-only" in farm.execute(name, "sh", "-c", "touch /x 2>&1; true")
    assert farm.execute("front", "sh", "-c", "grep CapEff /proc/1/status").endswith("0" * 16)


def test_prometheus_finds_each_process_once(farm):
    def found():
        answer = json.loads(farm.execute("prometheus", "python3", "-c", READ, UP))
        rows = answer["data"]["result"]
        up = sorted(row["metric"]["job"] for row in rows if row["value"][1] == "1")
        return up if len(up) >= len(PROCESSES) else None

    assert wait_until(found, 60, pause=1) == sorted(PROCESSES)


def test_a_front_is_ready_after_little_time(farm, tenant):
    farm.up("front")
    ready = ("python", "-c", READ, "http://127.0.0.1:8000/readyz")
    wait_until(lambda: podman.succeeds("podman", "exec", f"{PROJECT}-front", *ready), 120)
    seconds = float(farm.execute("front", "python", "-c", USED))
    LINES.append(f"a front of the image until it is ready: {seconds:.1f} s of CPU")
    # The proxy finds its new address within seconds.
    wait_until(tenant.is_served, 180, pause=0.5)
    assert seconds <= READY_SECONDS


def make_front_anew(farm):
    before = farm.address("front", "entrance")
    farm.remove("front", at_once=True)
    farm.up("front")
    assert farm.address("front", "entrance") != before


def kill(farm, name):
    """Kill the first process of a container, and with it all others; the policy of the file starts it again."""
    os.kill(farm.inspect(name)["State"]["Pid"], signal.SIGKILL)


def stand_still(farm, name, seconds):
    podman.run("podman", "pause", f"{PROJECT}-{name}")
    time.sleep(seconds)
    podman.run("podman", "unpause", f"{PROJECT}-{name}")


def cut_off(farm, name, seconds):
    """Take the link of a container to the stores down for a while."""
    enter = ("nsenter", "--net", f"--target={farm.inspect(name)['State']['Pid']}", "ip")
    found = podman.run(*enter, "-oneline", "address", "show", "to", farm.address(name, "inside"))
    link = found.split()[1]
    podman.run(*enter, "link", "set", link, "down")
    time.sleep(seconds)
    podman.run(*enter, "link", "set", link, "up")


FAULTS = {
    "the front is killed and made anew": make_front_anew,
    "the worker is killed": lambda farm: kill(farm, "worker"),
    "the batch worker is killed": lambda farm: kill(farm, "batch"),
    "Valkey is killed": lambda farm: kill(farm, "redis"),
    "PostgreSQL stands still for 20 s": lambda farm: stand_still(farm, "postgresql", 20),
    "S3 is restarted": lambda farm: podman.run("podman", "restart", f"{PROJECT}-s3"),
    "the batch worker is cut off for 15 s": lambda farm: cut_off(farm, "batch", 15),
    "the front is cut off for 15 s": lambda farm: cut_off(farm, "front", 15),
}


def use(client, number):
    entry = client.render(number) if number % 3 else client.accept(number)
    time.sleep(0.2 if entry.status in (200, 202) else 0.5)


def test_faults_lose_and_double_nothing(farm, tenant, template):
    batches = [tenant.client().submit(template, 400), tenant.client().submit(template, 100, "zip")]
    assert {entry.status for entry in batches} == {202}
    with Crowd(tenant.client, clients=3, total=0, act=use):
        for name, harm in FAULTS.items():
            harm(farm)
            begun = time.monotonic()
            wait_until(tenant.is_served, 180, pause=0.5)
            LINES.append(f"served again {time.monotonic() - begun:.1f} s after: {name}")
    state = tenant.assert_sound("faults of a farm in containers")
    assert [state.batches[entry.batch_id][2]["succeeded"] for entry in batches] == [400, 100]


def test_an_upgrade_with_jobs_in_flight_and_its_way_back_lose_nothing(farm, tenant, template):
    podman.run("podman", "tag", f"{podman.IMAGE}:local", f"{podman.IMAGE}:next")
    batch = tenant.client().submit(template, 300)
    assert batch.status == 202
    with Crowd(tenant.client, clients=3, total=0, act=use):
        for tag in ("next", "local"):
            farm.settings["PRESSROOM_TAG"] = tag
            farm.up("migrate", *PROCESSES)
            wait_until(tenant.is_served, 180, pause=0.5)
    images = (
        "podman",
        "ps",
        "--filter",
        f"ancestor={podman.IMAGE}:local",
        "--format",
        "{{.Names}}",
    )
    assert {f"{PROJECT}-{name}" for name in PROCESSES} <= set(podman.run(*images).split())
    state = tenant.assert_sound("upgrade, and the way back")
    assert state.batches[batch.batch_id][2]["succeeded"] == 300
