"""The farms of the files beside compose.yaml: their broker and their second Redis are killed under load."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.containers.conftest import LINES, Tenant, create_tenant
from tests.containers.farm import ContainerFarm
from tests.containers.test_farm import use
from tests.faults.clients import Crowd
from tests.faults.farm import TEMPLATE
from tests.waiting import wait_until

pytestmark = [pytest.mark.services, pytest.mark.long]

KILLED = {"compose.rabbitmq.yaml": "rabbitmq", "compose.shards.yaml": "redis-1"}


@pytest.fixture(scope="module", params=KILLED)
def addition(request: pytest.FixtureRequest) -> str:
    """Return the file that is added to compose.yaml."""
    return str(request.param)


@pytest.fixture(scope="module")
def farm(
    image: str, addition: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerFarm]:
    """Run the farm of both files."""
    farm = ContainerFarm(tmp_path_factory.mktemp("farm"), addition)
    with farm.running():
        yield farm


@pytest.fixture(scope="module")
def tenants(farm: ContainerFarm, tmp_path_factory: pytest.TempPathFactory) -> list[Tenant]:
    """Create four accounts: with two shards, each has some of them but for one farm in eight."""
    return [create_tenant(farm, tmp_path_factory.mktemp("seen")) for _ in range(4)]


def test_what_is_added_is_killed_and_nothing_is_lost(
    farm: ContainerFarm, addition: str, tenants: list[Tenant]
) -> None:
    killed = KILLED[addition]
    for tenant in tenants:
        wait_until(tenant.is_served, 180, pause=0.5)
    batches = [
        tenant.client().submit(str(tenant.api.templates.create("note", TEMPLATE).id), 100)
        for tenant in tenants
    ]
    assert {entry.status for entry in batches} == {202}
    clients = (tenant.client() for tenant in tenants)
    with Crowd(lambda: next(clients), clients=len(tenants), total=0, act=use):
        time.sleep(3)
        os.kill(farm.inspect(killed)["State"]["Pid"], signal.SIGKILL)
        begun = time.monotonic()
        farm.wait_for(killed)
        for tenant in tenants:
            wait_until(tenant.is_served, 180, pause=0.5)
        LINES.append(f"served again {time.monotonic() - begun:.1f} s after: {killed} is killed")
    for tenant, batch in zip(tenants, batches, strict=True):
        state = tenant.assert_sound(f"{killed} of a farm in containers")
        assert state.batches[batch.batch_id][2]["succeeded"] == 100
