"""The image is a complete farm: package, commands and settings, without the source tree."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from contextlib import suppress

import pytest

from deploy.embedded.loopback import free_port
from shared.encryption import new_key
from shared.parent_death import with_parent_death_signal
from tests.containers.farm import fill_in
from tests.deploy.deployment import build_wheel, command_of, compose, image_settings
from tests.servers import RedisServer
from tests.waiting import wait_until

HELLO = b"<document><flow><p>Hello</p></flow></document>"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Unpack the package, where nothing else of the repository is."""
    folder = tmp_path_factory.mktemp("image")
    target = folder / "site"
    zipfile.ZipFile(build_wheel(folder)).extractall(target)
    return target


@pytest.fixture(scope="module")
def environment(installed, tmp_path_factory):
    """Return a container's environment: the image's settings, the stores, writable memory."""
    folder = tmp_path_factory.mktemp("stores")
    memory = folder / "run"
    memory.mkdir()
    ports = {name: str(free_port()) for name in image_settings() if name.endswith("_PORT")}
    with RedisServer(folder) as redis:
        yield {
            **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            **image_settings(),
            **ports,
            "PRESSROOM_METRICS_DIR": str(memory / "metrics"),
            "PRESSROOM_DATABASE_URL": f"sqlite:///{folder}/farm.sqlite",
            "PRESSROOM_REDIS_URL": redis.url,
            "PRESSROOM_BLOB_URL": f"file://{folder}/blobs",
            "PRESSROOM_SECRET_KEYS": new_key(),
            "PYTHONPATH": str(installed),
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(memory),
        }


def test_a_farm_of_the_image_renders_meters_and_shows_its_metrics(installed, environment, tmp_path):
    before = sorted(installed.rglob("*"))
    subprocess.run(command_of("migrate", 0), env=environment, cwd=tmp_path, check=True)
    create = [
        sys.executable,
        "-m",
        "deploy.cli.main",
        "account",
        "create",
        "--email",
        "a@example.org",
    ]
    made = subprocess.run(
        [*create, "--json"], env=environment, cwd=tmp_path, check=True, capture_output=True
    )
    key = json.loads(made.stdout)["api_key"]
    port = free_port()
    running = []
    try:
        for name in ("front", "worker", "batch", "counter", "maintenance", "webhooks", "fetcher"):
            own = environment | fill_in(compose()["services"][name]["environment"], {})
            own |= {
                name: environment[name]
                for name in environment
                if name.endswith(("_URL", "_DIR", "_KEYS"))
            }
            if name == "batch":
                own["PRESSROOM_WORKER_METRICS_PORT"] = str(free_port())
            with (tmp_path / f"{name}.log").open("wb") as log:
                command = with_parent_death_signal(command_of(name, port))
                running.append(
                    subprocess.Popen(command, env=own, cwd=tmp_path, stdout=log, stderr=log)
                )
        await_answer(f"http://127.0.0.1:{port}/readyz")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "text/xml"}
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/v2/pdf", HELLO, headers)
        with urllib.request.urlopen(asked, timeout=70) as answer:
            assert answer.read().startswith(b"%PDF")
        for part in ("WORKER", "COUNTER", "MAINTENANCE", "WEBHOOKS", "FETCHER"):
            at = environment[f"PRESSROOM_{part}_METRICS_PORT"]
            assert b"pressroom_build_info" in await_answer(f"http://127.0.0.1:{at}/metrics")
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(90)
    assert sorted(installed.rglob("*")) == before  # the root file system may be read-only


def await_answer(url):
    def answered():
        with (
            suppress(OSError, urllib.error.HTTPError),
            urllib.request.urlopen(url, timeout=5) as answer,
        ):
            return answer.read()
        return None

    return wait_until(answered, seconds=60, pause=0.2)
