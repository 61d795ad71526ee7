"""Image, compose file and proxy say what the code needs, and the same as each other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shared.db.migrate import upgrade
from shared.limits import MAX_BATCH_BYTES, MAX_BODY_BYTES, MAX_IMAGE_BYTES, MB
from shared.queue.names import QUEUES
from shared.settings import Settings, load_settings
from tests.deploy.deployment import (
    DOCKER,
    PROCESSES,
    ROOT,
    assert_command_exists,
    build_wheel,
    compose,
    dockerfile,
    image_settings,
    tracked_files,
)

SETTINGS = {f"PRESSROOM_{field.upper()}" for field in Settings.__dataclass_fields__}
SERVICES = compose()["services"]
OURS = {name: each for name, each in SERVICES.items() if "build" in each}
WORKERS = ("worker", "batch")
URLS = {
    "PRESSROOM_DATABASE_URL": "sqlite:////x",
    "PRESSROOM_REDIS_URL": "redis://x",
    "PRESSROOM_BLOB_URL": "file:///x",
}


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


@pytest.mark.parametrize("file", sorted(DOCKER.glob("compose*.yaml")), ids=lambda file: file.name)
def test_a_compose_file_is_of_the_schema_of_its_specification(file):
    command = [str(Path(sys.executable).with_name("check-jsonschema"))]
    command += ["--builtin-schema", "vendor.compose-spec", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def added_by(file):
    """Return the services of a file beside compose.yaml."""
    return compose(file)["services"]


def find_setting(service, server, field):
    """Return the one setting that a service gets in a farm with a server, and waits for."""
    [(name, value)] = service["environment"].items()
    given = {name: re.sub(r"\$\{[^}]*\}", "pw", value)}
    assert getattr(load_settings(URLS | given), field) == given[name]
    assert service["depends_on"] == {server: {"condition": "service_healthy"}}
    return given[name]


def test_images_of_others_are_named_by_version_and_digest():
    """A tag can be moved by whoever publishes it; the digest is what was read and tried."""
    files = [yaml.safe_load(path.read_text()) for path in DOCKER.glob("compose*.yaml")]
    images = {
        service["image"]
        for file in files
        for service in file["services"].values()
        if "image" in service and not service["image"].startswith("pressroom:")
    }
    [base] = re.findall(r"^ARG BASE=(.*)$", dockerfile(), re.MULTILINE)
    assert len(images) >= 7
    for image in images | {base}:
        assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}", image), image
    assert re.findall(r"^FROM (\S+)", dockerfile(), re.MULTILINE) == ["${BASE}"] * 2


def test_a_second_shard_is_added_for_every_process():
    added = added_by("compose.shards.yaml")
    told = {name for name, each in OURS.items() if "PRESSROOM_REDIS_URL" in each["environment"]}
    assert told <= set(added)
    names = []
    for name, service in added.items():
        if name == "redis-1":
            assert service["extends"] == {"file": "compose.yaml", "service": "redis"}
            continue
        chosen = {
            key: re.sub(r"\$\{[^}]*\}", "pw", value)
            for key, value in service["environment"].items()
        }
        settings = load_settings(URLS | chosen)
        names.append([shard.name for shard in settings.shards])
        pool, _, number = name.partition("-")
        if pool in WORKERS:
            assert settings.own_shard.name == (number or "0")
        if number:
            assert service["extends"] == {"file": "compose.yaml", "service": pool}
            # Prometheus finds workers by the name of their pool.
            assert service["networks"] == {"scrapes": {"aliases": [pool]}}
            assert "scrapes" in SERVICES[pool]["networks"]
    assert names == [["0", "1"]] * len(names)


def test_rabbitmq_is_added_for_every_process_with_tasks():
    added = added_by("compose.rabbitmq.yaml")
    server = added.pop("rabbitmq")
    # The fetcher has no access to a store, and migrations publish nothing.
    assert set(added) == set(OURS) - {"fetcher", "migrate"}
    for service in added.values():
        path = urlsplit(find_setting(service, "rabbitmq", "broker_url")).path
        assert path.lstrip("/") == server["environment"]["RABBITMQ_DEFAULT_VHOST"]
    assert server["networks"] == ["inside"]
    assert "ports" not in server


def test_a_redis_that_keeps_nothing_is_added_for_every_process_with_tasks():
    added = added_by("compose.memory.yaml")
    server, kept = added.pop("redis-memory"), SERVICES["redis"]
    assert set(added) == set(OURS) - {"fetcher", "migrate"}
    for service in added.values():
        find_setting(service, "redis-memory", "memory_redis_url")
    [command] = server["command"]
    for option in ("--appendonly no", '--save ""', "--maxmemory 512mb", "requirepass"):
        assert option in command
    assert server["image"] == kept["image"]
    assert server["healthcheck"] == kept["healthcheck"]
    assert server["networks"] == ["inside"]
    assert not {"ports", "volumes"} & set(server)


def test_a_signer_is_added_for_the_workers():
    file = compose("compose.signer.yaml")
    added = file["services"]
    signer = added.pop("signer")
    port = image_settings()["PRESSROOM_SIGNER_BIND"].rpartition(":")[2]
    # Prometheus scrapes it; nobody else reaches it.
    assert added.pop("prometheus") == {"networks": ["signer-scrapes"]}
    asked = {
        "environment": {"PRESSROOM_SIGNER_URL": f"http://signer:{port}"},
        "networks": ["signing"],
    }
    assert added == dict.fromkeys(WORKERS, asked)
    # It has the keys, and neither the secrets of the stores nor a way out.
    internal = {"internal": True}
    assert file["networks"] == {"signing": internal, "signer-scrapes": internal}
    assert signer["networks"] == ["signing", "signer-scrapes"]
    assert set(signer["environment"]) == {"PRESSROOM_SIGNER_CERTIFICATES"}
    assert signer["command"] == ["python", "-m", "workers.signer.main"]
    assert signer["volumes"][0].endswith(":/certificates:ro")
    fetcher = OURS["fetcher"]
    for name in ("read_only", "user", "cap_drop", "security_opt", "tmpfs", "stop_grace_period"):
        assert signer[name] == fetcher[name]
    assert "ports" not in signer
    scraped = image_settings()["PRESSROOM_SIGNER_METRICS_PORT"]
    assert f":{scraped}/healthz" in signer["healthcheck"]["test"][-1]


def test_the_image_has_the_library_of_signatures_as_it_is_tested_if_asked():
    assert 'if [ "$SIGNING" = yes ]' in dockerfile()
    assert "--require-hashes -r signing.lock" in dockerfile()
    tested = read_lock("requirements-dev.lock")
    added = read_lock("deploy/docker/signing.lock")
    assert added.items() <= tested.items()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    base = names_in(read_lock("requirements.lock"))
    assert names_in(added) == find_needed(*extras["sign"]) - base
    assert not names_in(added) & names_in(read_lock("requirements.lock"))


def find_needed(*wanted, extra=""):
    """Return the names of the packages that requirements bring, themselves included, as they are installed here."""
    found = set()
    for one in map(Requirement, wanted):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            found.add(canonicalize_name(one.name))
            for of in ("", *one.extras):
                found |= find_needed(*requires(one.name) or (), extra=of)
    return found


def read_lock(name):
    """Return the hashes of each package of a lock file, by its name and version."""
    lines = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    pinned = [line.split() for line in lines if line and not line.lstrip().startswith("#")]
    return {package: tuple(hashes) for package, *hashes in pinned}


def names_in(lock):
    """Return the names of the packages of a lock file that was read, without extras."""
    return {package.partition("==")[0].partition("[")[0] for package in lock}


def test_every_process_of_a_farm_is_a_service():
    assert set(OURS) == {*PROCESSES, "migrate"}


@pytest.mark.parametrize("name", OURS)
def test_every_setting_of_a_service_is_one(name):
    given = {key: value for key, value in OURS[name]["environment"].items() if "URL" not in key}
    assert set(OURS[name]["environment"]) <= SETTINGS
    chosen = {key: value for key, value in given.items() if "${" not in value}
    settings = load_settings(chosen | image_settings() | URLS)
    assert settings.secret_keys == ""


def test_only_those_that_use_it_are_given_the_key_of_secrets():
    given = {name for name in OURS if "PRESSROOM_SECRET_KEYS" in OURS[name]["environment"]}
    assert given == {"front", "webhooks"}


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_can_change_nothing_but_its_memory(name):
    service = OURS[name]
    assert service["read_only"] is True
    assert service["user"] == "10001:10001"
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {entry.split(":")[0] for entry in service["tmpfs"]} == {"/tmp", "/run/pressroom"}
    assert "volumes" not in service
    assert "ports" not in service
    assert "mem_limit" in service


@pytest.mark.parametrize("name", OURS)
def test_every_command_of_a_service_exists(name):
    command = OURS[name].get("command")
    if command is None:
        command = json.loads(re.search(r"^CMD (.*)$", dockerfile(), re.MULTILINE)[1])
    assert_command_exists(command)


def test_a_stopping_service_has_time_to_finish_running_renders():
    budget = float(OURS["worker"]["environment"]["PRESSROOM_RENDER_BUDGET"])
    for name in PROCESSES:
        assert seconds(OURS[name]["stop_grace_period"]) >= budget + 10


def test_every_queue_has_a_pool_and_only_one():
    taken = [
        queue
        for name in WORKERS
        for queue in OURS[name]["environment"]["PRESSROOM_WORKER_QUEUES"].split(",")
    ]
    assert sorted(taken) == sorted(QUEUES)


@pytest.mark.parametrize("name", WORKERS)
def test_the_memory_limit_of_a_worker_covers_its_children(name):
    settings = OURS[name]["environment"]
    children = int(settings["PRESSROOM_WORKER_CONCURRENCY"])
    wanted = children * int(settings["PRESSROOM_CHILD_MEMORY_MB"])
    assert int(OURS[name]["mem_limit"].removesuffix("g")) * 1024 >= wanted * 1.25


def test_the_ports_of_image_health_checks_and_prometheus_agree():
    image = image_settings()
    ports = {
        "front": "8000",
        "worker": image["PRESSROOM_WORKER_METRICS_PORT"],
        "batch": image["PRESSROOM_WORKER_METRICS_PORT"],
        "counter": image["PRESSROOM_COUNTER_METRICS_PORT"],
        "maintenance": image["PRESSROOM_MAINTENANCE_METRICS_PORT"],
        "webhooks": image["PRESSROOM_WEBHOOKS_METRICS_PORT"],
        "fetcher": image["PRESSROOM_FETCHER_METRICS_PORT"],
        "signer": image["PRESSROOM_SIGNER_METRICS_PORT"],
    }
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    scraped = {
        job["job_name"]: str(job["dns_sd_configs"][0]["port"]) for job in config["scrape_configs"]
    }
    exposed = set(re.search(r"^EXPOSE (.*)$", dockerfile(), re.MULTILINE)[1].split())
    assert scraped == ports
    signing = image["PRESSROOM_SIGNER_BIND"].rpartition(":")[2]
    assert exposed == {*ports.values(), port_asked(), signing}
    del ports["signer"]  # in a file of its own
    for name, port in ports.items():
        assert f":{port}/healthz" in OURS[name]["healthcheck"]["test"][-1]


def test_fronts_and_workers_connect_to_the_fetchers_port():
    for name in ("front", "worker", "batch"):
        asked = OURS[name]["environment"]["PRESSROOM_FETCHER_URL"]
        assert asked == f"http://fetcher:{port_asked()}"


def port_asked():
    return image_settings()["PRESSROOM_FETCHER_BIND"].rpartition(":")[2]


def test_only_those_that_send_have_a_way_out_and_the_fetcher_no_secret():
    networks = compose()["networks"]
    leading_out = {name for name, each in networks.items() if not each.get("internal")}
    assert leading_out == {"outside", "viewers", "exit"}
    out = {name for name, each in SERVICES.items() if leading_out & set(each["networks"])}
    assert out == {"proxy", "grafana", "fetcher", "webhooks", "alertmanager"}
    assert set(OURS["fetcher"]["environment"]) == {"PRESSROOM_FETCHER_CACHE_MB"}


def test_redis_persists_accepted_writes():
    [command] = SERVICES["redis"]["command"]
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command
    assert "requirepass" in command


def test_no_secret_has_a_default():
    text = (DOCKER / "compose.yaml").read_text()
    for name in (
        "POSTGRES_PASSWORD",
        "POSTGRES_ADMIN_PASSWORD",
        "REDIS_PASSWORD",
        "S3_SECRET",
        "GRAFANA_PASSWORD",
    ):
        assert re.findall(rf"\$\{{{name}(.*?)\}}", text) == re.findall(
            rf"\$\{{{name}(:\?choose one in \.env)\}}", text
        )
        assert f"\n{name}=\n" in (DOCKER / "env.example").read_text()


def test_only_the_proxy_and_grafana_can_be_reached_and_grafana_from_here_alone():
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
    assert set(published) == {"proxy", "grafana"}
    assert all(port.startswith("127.0.0.1:") for port in published["grafana"])


def test_each_network_connects_those_that_need_each_other():
    members = {
        network: {name for name, each in SERVICES.items() if network in each["networks"]}
        for network in compose()["networks"]
    }
    stores = {"postgresql", "redis", "s3"}
    assert members == {
        "outside": {"proxy"},
        "entrance": {"proxy", "front"},
        "inside": stores | set(OURS) - {"fetcher"},
        "fetching": {"front", *WORKERS, "fetcher"},
        "scrapes": {"prometheus"} | set(OURS) - {"fetcher", "migrate"},
        "fetcher-scrapes": {"prometheus", "fetcher"},
        "boards": {"prometheus", "grafana"},
        "alerts": {"prometheus", "alertmanager"},
        "viewers": {"grafana"},
        "exit": {"fetcher", "webhooks", "alertmanager"},
    }


@pytest.mark.services
def test_the_farms_role_owns_its_database_and_is_no_superuser(postgresql_port):
    script = DOCKER / "postgresql-role.sh"
    [mounted] = [each for each in SERVICES["postgresql"]["volumes"] if script.name in each]
    assert mounted.split(":")[1].startswith("/docker-entrypoint-initdb.d/")
    assert SERVICES["postgresql"]["environment"]["POSTGRES_USER"] == "postgres"
    # The role of the tests' superuser has the farm's name.
    text = script.read_text().replace("pressroom", "farm_role")
    environment = {
        "PATH": os.environ["PATH"],
        "POSTGRES_USER": "pressroom",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgresql_port),
        "PRESSROOM_PASSWORD": "a'b",
    }
    subprocess.run(["sh", "-c", text], env=environment, check=True, capture_output=True)
    address = f"host=127.0.0.1 port={postgresql_port} user=farm_role password=a'b dbname=farm_role"
    with psycopg.connect(address.replace("a'b", "'a\\'b'")) as connection:
        [found] = connection.execute(
            "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user"
        )
        assert found == (False, False, False)
    upgrade(f"postgresql+psycopg://farm_role:a'b@127.0.0.1:{postgresql_port}/farm_role")


@pytest.mark.parametrize("name", SERVICES)
def test_every_mounted_file_of_a_service_exists(name):
    named = set(compose()["volumes"])
    for volume in SERVICES[name].get("volumes", ()):
        source = volume.split(":")[0]
        assert source in named or (DOCKER / source).exists()


def test_the_proxy_waits_longer_than_the_front_and_accepts_what_it_accepts():
    text = (DOCKER / "nginx.conf").read_text()
    general, batches = text.split("location ^~ /v2/batches {")
    values, of_batches = values_of(general), values_of(batches.partition("}")[0])
    assert values["proxy_request_buffering"] == "on"
    assert "non_idempotent" not in values["proxy_next_upstream"]
    assert megabytes(values["client_max_body_size"]) > max(MAX_BODY_BYTES, MAX_IMAGE_BYTES)
    assert of_batches["proxy_request_buffering"] == "off"
    assert megabytes(of_batches["client_max_body_size"]) > MAX_BATCH_BYTES
    budget = float(OURS["front"]["environment"]["PRESSROOM_RENDER_BUDGET"])
    assert seconds(values["proxy_read_timeout"]) > budget + 5
    assert "$request_uri" not in text
    assert "$http_" not in text


def values_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\s*([a-z_]+) ([^;]+);", text, re.MULTILINE))


def megabytes(text: str) -> int:
    return int(text.removesuffix("m")) * MB


def test_the_image_is_built_in_one_stage_and_runs_unprivileged_in_another():
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", dockerfile(), re.MULTILINE)
    assert [name for _, name in stages] == ["build", ""]
    assert len({image for image, _ in stages}) == 1
    last = dockerfile().rpartition("FROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "--require-hashes -r requirements.lock" in dockerfile()
    assert not re.search(r"^ADD |COPY --chown|curl |wget ", dockerfile(), re.MULTILINE)


def test_an_image_with_single_sign_on_has_the_pinned_packages_of_its_extra():
    assert "--require-hashes -r single-sign-on.lock" in dockerfile()
    pinned = read_lock("deploy/docker/single-sign-on.lock")
    assert pinned.items() <= read_lock("requirements-dev.lock").items()
    assert names_in(pinned) == find_needed("authlib", "requests")


def test_every_copied_file_is_in_the_build_context():
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    for sources in re.findall(r"^COPY (?!--from)(.*)$", dockerfile(), re.MULTILINE):
        *copied, _ = sources.split()
        for source in copied:
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored


@pytest.mark.long
def test_the_installed_package_has_every_file_its_code_reads(tmp_path):
    packed = set(zipfile.ZipFile(build_wheel(tmp_path)).namelist())
    read = {
        file
        for file in tracked_files()
        if file.startswith(("api/", "shared/", "workers/", "deploy/cli/", "deploy/embedded/"))
        and not file.startswith("api/studio/source/")  # what is built of them is installed
        # For readers of the source tree.
        and not file.startswith("workers/engine/decisions/")
        and not file.endswith("/README.md")
    }
    assert read <= packed, sorted(read - packed)
