"""The secrets of a farm with a signer, rotated with jobs in flight as deploy/docs/security.md says."""

from __future__ import annotations

import http.client
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyhanko.pdf_utils.reader import PdfFileReader

from shared import clock
from shared.encryption import new_key
from tests.certificates import make_pkcs12
from tests.containers import podman
from tests.containers.conftest import LINES, Tenant, create_tenant
from tests.containers.farm import PROJECT, ContainerFarm
from tests.containers.test_farm import use
from tests.deploy.deployment import PROCESSES, ROOT
from tests.faults.clients import Client, Crowd
from tests.faults.farm import TEMPLATE
from tests.waiting import wait_until

pytestmark = [pytest.mark.services, pytest.mark.long]

SIGNED = '<document><security sign="seal"/><flow><p>a</p></flow></document>'
VALKEY = 'REDISCLI_AUTH="$REDIS_PASSWORD" valkey-cli'
ENCRYPTED = "secrets encrypted with the newest key"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of certificates, which the user of the signer can read."""
    folder = tmp_path_factory.mktemp("certificates")
    for one in (folder, *list(folder.parents)[:2]):
        one.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def farm(
    image: str, certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerFarm]:
    """Run a farm with a signer, in place of that of the tests before."""
    podman.build_image("local-signer", SIGNING="yes")
    farm = ContainerFarm(tmp_path_factory.mktemp("farm"), "compose.signer.yaml")
    farm.settings["CERTIFICATES"] = str(certificates)
    farm.settings["ADMIN_KEYS"] = "first" * 8
    with farm.running():
        yield farm
    podman.run("podman", "rmi", "--ignore", "--force", f"{podman.IMAGE}:local-signer")


@pytest.fixture(scope="module")
def tenant(farm: ContainerFarm, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    """Create the account of these tests."""
    return create_tenant(farm, tmp_path_factory.mktemp("seen"))


def ask_operator(farm: ContainerFarm, key: str) -> int:
    """Return the status of a call of an operator."""
    connection = http.client.HTTPConnection("127.0.0.1", farm.port, timeout=30)
    try:
        connection.request("GET", "/v2/admin/status", headers={"Authorization": f"Bearer {key}"})
        return connection.getresponse().status
    finally:
        connection.close()


def sign(tenant: Tenant) -> int:
    """Return the serial number of the certificate that signs a file of the account."""
    pdf = tenant.api.render(SIGNED).pdf
    [signature] = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    return int(signature.signer_cert.serial_number)


def store_certificate(tenant: Tenant, folder: Path, password: str) -> None:
    (folder / f"{tenant.account}.seal.p12").write_bytes(
        make_pkcs12(clock.now(), password=password.encode())
    )
    (folder / f"{tenant.account}.seal.password").write_text(password)


def restart(farm: ContainerFarm, tenant: Tenant, *names: str) -> None:
    farm.up(*names)
    wait_until(tenant.is_served, 180, pause=0.5)


def rotate_api_key(farm: ContainerFarm, tenant: Tenant, keys: list[str]) -> None:
    """Give the clients a second key, and revoke the one before."""
    create = ("pressroom", "key", "create", tenant.account, "--json")
    made = [json.loads(farm.execute("maintenance", *create)) for _ in range(2)]
    for one in made:
        keys.append(one["api_key"])
        wait_until(tenant.is_served, 60)
    farm.execute("maintenance", "pressroom", "key", "revoke", made[0]["key_id"])
    client = Client(farm.port, made[0]["api_key"], tenant.history)
    assert client.ask("GET", "/v2/account/usage")["status"] == 401


def rotate_operator_key(farm: ContainerFarm, tenant: Tenant) -> None:
    old, new = farm.settings["ADMIN_KEYS"], "second" * 8
    for keys, expected in ((f"{new} {old}", (200, 200)), (new, (401, 200))):
        farm.settings["ADMIN_KEYS"] = keys
        restart(farm, tenant, "front")
        assert (ask_operator(farm, old), ask_operator(farm, new)) == expected


def rotate_secret_key(farm: ContainerFarm, tenant: Tenant) -> None:
    """Encrypt the secrets of webhooks anew, and read all of them without the old key."""
    old, new = farm.settings["SECRET_KEY"], new_key()
    for keys, changed in ((f"{new} {old}", 1), (new, 0)):
        farm.settings["SECRET_KEY"] = keys
        restart(farm, tenant, "front")
        farm.up("webhooks")
        lines = wait_until(
            lambda: [one for one in farm.read_log("webhooks").splitlines() if ENCRYPTED in one],
            60,
            pause=1,
            explain=lambda: farm.read_log("webhooks"),
        )
        assert json.loads(lines[0])["changed"] == changed


def rotate_redis(farm: ContainerFarm, tenant: Tenant) -> None:
    old, new = farm.settings["REDIS_PASSWORD"], "b" * 32
    said = farm.execute("redis", "sh", "-c", f"{VALKEY} ACL SETUSER default '>{new}'")
    assert said == "OK"
    farm.settings["REDIS_PASSWORD"] = new
    restart(farm, tenant, *PROCESSES)
    said = farm.execute("redis", "sh", "-c", f"{VALKEY} ACL SETUSER default '<{old}'")
    assert said == "OK"
    restart(farm, tenant, "redis")  # with `requirepass` as configured
    command = f"REDISCLI_AUTH={old} valkey-cli PING 2>&1; true"
    assert "PONG" not in farm.execute("redis", "sh", "-c", command)


def rotate_postgresql(farm: ContainerFarm, tenant: Tenant) -> None:
    """Run the statements of the guide: a second role, and another password for the first once none has it."""
    guide = (ROOT / "deploy/docs/security.md").read_text()
    *add, remove = re.findall(r"`((?:CREATE|ALTER) ROLE [^`]*)`", guide)

    def run(*statements: str) -> None:
        text = "; ".join(statements).replace("…", new)
        said = farm.execute("postgresql", "psql", "--username=postgres", f"--command={text}")
        assert said.count("ROLE") == len(statements)

    old, new = farm.settings["POSTGRES_PASSWORD"], "d" * 32
    run(*add)
    farm.settings |= {"POSTGRES_ROLE": "pressroom_b", "POSTGRES_PASSWORD": new}
    restart(farm, tenant, "migrate", *PROCESSES)
    assert asks_database(farm, old) == (True, "pressroom")
    run(remove)
    assert asks_database(farm, old) == (False, "")


def asks_database(farm: ContainerFarm, password: str) -> tuple[bool, str]:
    """Return whether the password of the first role is accepted, and then who owns the tables."""
    query = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    where = f"postgresql://pressroom:{password}@postgresql/pressroom"
    command = (
        "podman",
        "exec",
        f"{PROJECT}-postgresql",
        "psql",
        "--tuples-only",
        "--no-align",
        where,
    )
    accepted = podman.succeeds(*command, "--command=SELECT 1")
    return accepted, podman.run(*command, f"--command={query}") if accepted else ""


def rotate_s3(farm: ContainerFarm, tenant: Tenant) -> None:
    """Have the store take both keys, then all processes the new one, then the store that one alone."""
    old, new = farm.settings["S3_SECRET"], "e" * 32
    farm.settings |= {"S3_KEY": "pressroom-b", "S3_SECRET": new, "S3_OLD": f"pressroom,{old}"}
    farm.up("s3")
    wait_until(tenant.is_served, 180, pause=0.5)
    assert asks_store(farm, "pressroom", old)
    restart(farm, tenant, *PROCESSES)
    farm.settings["S3_OLD"] = ""
    restart(farm, tenant, "s3")
    assert asks_store(farm, "pressroom-b", new)
    assert not asks_store(farm, "pressroom", old)


def asks_store(farm: ContainerFarm, key: str, secret: str) -> bool:
    """Return whether the store lists the bucket for a key."""
    store = f":s3,provider=Rclone,endpoint='http://s3:9000',access_key_id={key},secret_access_key={secret}:pressroom"
    return podman.succeeds("podman", "exec", f"{PROJECT}-s3", "rclone", "lsf", "--retries=1", store)


def test_secrets_are_rotated_with_jobs_in_flight_and_nothing_is_lost(
    farm: ContainerFarm, tenant: Tenant, certificates: Path
) -> None:
    template = str(tenant.api.templates.create("note", TEMPLATE).id)
    # An address without a name, as the farm has no way out; no job fails, so nothing is sent to it.
    tenant.api.webhooks.create("https://192.0.43.8/hook", events=["job.failed"])
    wait_until(tenant.is_served, 180, pause=0.5)
    batch = tenant.client().submit(template, 600)
    assert batch.status == 202
    keys = [tenant.key]

    def act(_client: Client, number: int) -> None:
        use(Client(farm.port, keys[-1], tenant.history), number)

    with Crowd(tenant.client, clients=3, total=0, act=act):
        rotate_api_key(farm, tenant, keys)
        rotate_operator_key(farm, tenant)
        rotate_secret_key(farm, tenant)
        rotate_redis(farm, tenant)
        rotate_postgresql(farm, tenant)
        rotate_s3(farm, tenant)
    state = tenant.assert_sound("secrets rotated in containers")
    assert state.batches[batch.batch_id][2]["succeeded"] == 600


def test_the_next_file_is_signed_with_a_certificate_that_is_replaced(
    farm: ContainerFarm, tenant: Tenant, certificates: Path
) -> None:
    serials = []
    for password in ("first", "second"):
        store_certificate(tenant, certificates, password)
        serials.append(sign(tenant))
    assert serials[0] != serials[1]
    LINES.append("a certificate of signatures replaced: the next file is signed with it")
