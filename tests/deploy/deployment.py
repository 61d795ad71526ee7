"""Reading the files of deploy/ for the tests that compare them with each other and with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "deploy/docker"
KUBERNETES = ROOT / "deploy/kubernetes"
PROCESSES = ("front", "worker", "batch", "counter", "keeper", "hooks")


def compose() -> dict[str, Any]:
    """Read the compose file; merges (`<<`) are done by the reader."""
    return yaml.safe_load((DOCKER / "compose.yaml").read_text())


def documents(folder: str) -> list[dict[str, Any]]:
    """Read every document that a kustomization names, without building it."""
    listed = yaml.safe_load((KUBERNETES / folder / "kustomization.yaml").read_text())
    return [
        document
        for file in listed.get("resources", ())
        if file.endswith(".yaml")
        for document in yaml.safe_load_all((KUBERNETES / folder / file).read_text())
    ]


def deployments() -> dict[str, dict[str, Any]]:
    """Give the base's deployments by name."""
    return {
        document["metadata"]["name"]: document
        for document in documents("base")
        if document["kind"] == "Deployment"
    }


def pod_of(deployment: dict[str, Any]) -> dict[str, Any]:
    """Give the pod that a deployment or a job makes."""
    return deployment["spec"]["template"]["spec"]


def container_of(deployment: dict[str, Any]) -> dict[str, Any]:
    """Give the one container of its pod."""
    [container] = pod_of(deployment)["containers"]
    return container


def settings_of(container: dict[str, Any]) -> dict[str, str]:
    """Give the variables that a container sets beside those all share."""
    return {each["name"]: each["value"] for each in container.get("env", ())}


def config() -> dict[str, str]:
    """Give the variables that all pods share."""
    [found] = [each for each in documents("base") if each["kind"] == "ConfigMap"]
    return found["data"]


def dockerfile() -> str:
    """Read the Dockerfile, its continued lines joined."""
    return re.sub(r"\\\n\s*", " ", (DOCKER / "Dockerfile").read_text())


def image_settings() -> dict[str, str]:
    """Give the `PRESSROOM_` variables that the image sets."""
    return dict(re.findall(r"\b(PRESSROOM_\w+)=(\S+)", dockerfile()))
