"""The farms of the files beside compose.yaml: their broker, second Redis and signer are killed under load."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyhanko.pdf_utils.reader import PdfFileReader

from shared import clock
from tests.certificates import make_pkcs12
from tests.containers import podman
from tests.containers.conftest import LINES, Tenant, create_tenant
from tests.containers.farm import ContainerFarm
from tests.containers.test_farm import use
from tests.faults.clients import Crowd
from tests.faults.farm import TEMPLATE
from tests.waiting import wait_until

pytestmark = [pytest.mark.services, pytest.mark.long]

KILLED = {
    "compose.rabbitmq.yaml": "rabbitmq",
    "compose.shards.yaml": "redis-1",
    "compose.signer.yaml": "signer",
}
SIGNED = '<document><security sign="seal"/><flow><p>a</p></flow></document>'


@pytest.fixture(scope="module", params=KILLED)
def addition(request: pytest.FixtureRequest) -> str:
    """Return the file that is added to compose.yaml."""
    return str(request.param)


@pytest.fixture(scope="module")
def farm(
    image: str, addition: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerFarm]:
    """Run the farm of both files; a signer needs an image of its own, and a folder it can read."""
    podman.build_image("local-signer", SIGNING="yes")
    certificates = tmp_path_factory.mktemp("certificates")
    for folder in (certificates, *list(certificates.parents)[:2]):
        folder.chmod(0o755)
    farm = ContainerFarm(tmp_path_factory.mktemp("farm"), addition)
    farm.settings["CERTIFICATES"] = str(certificates)
    with farm.running():
        yield farm
    podman.run("podman", "rmi", "--ignore", "--force", f"{podman.IMAGE}:local-signer")


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
    if killed == "signer":
        assert_signed(tenants[0], Path(farm.settings["CERTIFICATES"]))


def assert_signed(tenant: Tenant, folder: Path) -> None:
    """Check that a document of an account is signed by the certificate that is put into the folder."""
    made = make_pkcs12(clock.now(), password=b"secret")
    (folder / f"{tenant.account}.seal.p12").write_bytes(made)
    (folder / f"{tenant.account}.seal.password").write_text("secret")
    pdf = tenant.api.render(SIGNED).pdf
    assert len(PdfFileReader(io.BytesIO(pdf)).embedded_signatures) == 1
