"""Reading the files of deploy/ for the tests that compare them with each other and with the code."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart

from deploy.cli.commands import build_parser

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "deploy/docker"
CHART = ROOT / "deploy/helm"
PROCESSES = ("front", "worker", "batch", "counter", "maintenance", "webhooks", "fetcher")


def compose(file: str = "compose.yaml") -> dict[str, Any]:
    """Read a compose file; merges (`<<`) are done by the reader."""
    return yaml.safe_load((DOCKER / file).read_text())


@cache
def chart(values: str = "{}") -> list[dict[str, Any]]:
    """Render the chart by Helm's own code, with these values (JSON) over its own."""
    with Chart.load(CHART) as loaded:
        rendered = loaded.render(json.loads(values), name="pressroom", namespace="pressroom")
    return [
        document
        for file in sorted(rendered)
        if file.endswith(".yaml")
        for document in yaml.safe_load_all(rendered[file])
        if document
    ]


def documents(kind: str, values: str = "{}") -> dict[str, dict[str, Any]]:
    """Return the documents of a kind by name."""
    return {
        document["metadata"]["name"]: document
        for document in chart(values)
        if document["kind"] == kind
    }


def pod_of(deployment: dict[str, Any]) -> dict[str, Any]:
    """Return the pod that a deployment or a job makes."""
    return deployment["spec"]["template"]["spec"]


def container_of(deployment: dict[str, Any]) -> dict[str, Any]:
    """Return the one container of its pod."""
    [container] = pod_of(deployment)["containers"]
    return container


def settings_of(container: dict[str, Any]) -> dict[str, str]:
    """Return the variables that a container sets in addition to the shared ones."""
    return {each["name"]: each["value"] for each in container.get("env", ())}


def config(values: str = "{}") -> dict[str, str]:
    """Return the variables that all pods share."""
    return documents("ConfigMap", values)["pressroom"]["data"]


def dockerfile() -> str:
    """Read the Dockerfile, its continued lines joined."""
    return re.sub(r"\\\n\s*", " ", (DOCKER / "Dockerfile").read_text())


def image_settings() -> dict[str, str]:
    """Return the `PRESSROOM_` variables that the image sets."""
    return dict(re.findall(r"\b(PRESSROOM_\w+)=(\S+)", dockerfile()))


def tracked_files() -> list[str]:
    """List the files that a build starts from."""
    listed = subprocess.run(
        ["git", "ls-files", "api", "shared", "workers", "deploy", "pyproject.toml", "README.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [file for file in listed if (ROOT / file).exists()]


def build_wheel(folder: Path) -> Path:
    """Build the package as the Dockerfile does, from a copy of the sources."""
    source = folder / "source"
    for file in tracked_files():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_bytes((ROOT / file).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*command, "-w", str(folder), str(source)], check=True, cwd=folder)
    [wheel] = folder.glob("*.whl")
    return wheel


def assert_command_exists(command: list[str]) -> None:
    """Check that what a container runs is a program, module or command of ours."""
    match command:
        case ["gunicorn", "-c", settings, *_, app]:
            assert (settings, app) == ("python:api.gunicorn_conf", "api.wsgi:app")
        case ["python", "-m", module]:
            assert importlib.util.find_spec(module)
        case ["pressroom", name]:
            assert build_parser().parse_args([name])
        case other:
            raise AssertionError(f"unknown command {other}")


def command_of(name: str, port: int) -> list[str]:
    """Return the command of a service with this interpreter; the front's is the image's own."""
    match compose()["services"][name].get("command"):
        case None:
            words = json.loads(re.search(r"^CMD (.*)$", dockerfile(), re.MULTILINE)[1])
            return [
                sys.executable,
                "-m",
                *(f"127.0.0.1:{port}" if ":8000" in word else word for word in words),
            ]
        case ["python", *rest]:
            return [sys.executable, *rest]
        case ["pressroom", *rest]:
            return [sys.executable, "-m", "deploy.cli.main", *rest]
        case other:
            raise AssertionError(f"unknown command {other}")
