"""A farm of two fronts and three workers, each cut off from the stores for half a minute, and each store from all."""

import time
from collections.abc import Iterator

import pytest

from tests.containers.conftest import LINES, Tenant
from tests.containers.farm import ContainerFarm
from tests.containers.test_farm import cut_off, use
from tests.faults.clients import Crowd
from tests.faults.test_clocks import SHIFTED
from tests.waiting import wait_until

pytestmark = [pytest.mark.services, pytest.mark.long]

AHEAD_SECONDS = 90
MACHINES = ("front-2", "worker-2", "worker-3", "batch", "redis", "postgresql", "s3")


@pytest.fixture(scope="module")
def machines(
    farm: ContainerFarm, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerFarm]:
    """Add a front and two workers to the farm; the clock of the last is ahead."""
    folder = tmp_path_factory.mktemp("clock")
    folder.chmod(0o755)
    (folder / "sitecustomize.py").write_text(SHIFTED)
    shifted = {"PYTHONPATH": "/clock", "TEST_CLOCK_SHIFT": str(AHEAD_SECONDS)}
    farm.replicas = {
        "front-2": ("front", {}),
        "worker-2": ("worker", {}),
        "worker-3": ("worker", {"environment": shifted, "volumes": [f"{folder}:/clock:ro"]}),
    }
    farm.up(*farm.replicas)
    for name in farm.replicas:
        farm.wait_for(name)
    yield farm
    for name in farm.replicas:
        farm.remove(name)
    farm.replicas = {}


def test_each_machine_is_cut_off_in_turn_and_nothing_is_lost_or_doubled(
    machines: ContainerFarm, tenant: Tenant, template: str
) -> None:
    # A question of nginx that is lost while containers start is a 502.
    wait_until(tenant.is_served, 180, pause=0.5)
    batch = tenant.client().submit(template, 1000)
    assert batch.status == 202
    with Crowd(tenant.client, clients=4, total=0, act=use):
        for name in MACHINES:
            cut_off(machines, name, 30)
            begun = time.monotonic()
            wait_until(tenant.is_served, 180, pause=0.5)
            seconds = time.monotonic() - begun
            LINES.append(f"served again {seconds:.1f} s after 30 s without: {name}")
    state = tenant.assert_sound("two fronts and three workers, each cut off for 30 s")
    assert state.batches[batch.batch_id][2]["succeeded"] == 1000
