"""A farm by the shipped compose file: what `docker compose` does with it, done by podman."""

from __future__ import annotations

import copy
import graphlib
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.embedded.loopback import free_port
from shared.encryption import new_key
from tests.containers.podman import local_name, run, succeeds
from tests.deploy.deployment import DOCKER, compose
from tests.waiting import wait_until

PROJECT = compose()["name"]
# Debian has no Grafana, and an Alertmanager that is older than the `url_file` of our configuration.
LEFT_OUT = {"grafana", "alertmanager"}
OPTIONS = {
    "restart": "--restart",
    "user": "--user",
    "mem_limit": "--memory",
    "shm_size": "--shm-size",
    "hostname": "--hostname",
    "cap_drop": "--cap-drop",
    "security_opt": "--security-opt",
    "ports": "--publish",
}


class ContainerFarm:
    """The services of compose.yaml, and of files beside it, as containers `pressroom-SERVICE`, in networks of their own."""

    def __init__(self, folder: Path, *overlays: str) -> None:
        self._folder = folder
        self._project = read_project(*overlays)
        # More containers of a service, as on other machines: what differs from the first.
        self.replicas: dict[str, tuple[str, dict[str, Any]]] = {}
        self.port = free_port()
        names = re.findall(r"^([A-Z_0-9]+)=$", (DOCKER / "env.example").read_text(), re.MULTILINE)
        self.settings = {name: secrets.token_hex(16) for name in names} | {
            "SECRET_KEY": new_key(),
            "HTTP_ADDRESS": f"127.0.0.1:{self.port}",
            "PRESSROOM_TAG": "local",
        }

    @property
    def services(self) -> dict[str, Any]:
        """Return the services with their variables filled in, in the order in which they start."""
        read = fill_in(self._project["services"], self.settings)
        for name, (first, other) in self.replicas.items():
            environment = read[first]["environment"] | other.get("environment", {})
            read[name] = read[first] | other | {"environment": environment}
        order = graphlib.TopologicalSorter(
            {name: read[name].get("depends_on", ()) for name in read}
        )
        return {name: read[name] for name in order.static_order() if name not in LEFT_OUT}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the farm; its containers, networks and volumes are removed before and at the end."""
        self.down()
        try:
            self.make_networks()
            self.up()
            yield
        finally:
            self.down()

    def make_networks(self) -> None:
        """Make the networks, with a way to others only where the file has one."""
        for name, network in self._project["networks"].items():
            internal = ["--internal"] if network.get("internal") else []
            run("podman", "network", "create", *internal, f"{PROJECT}_{name}")

    def up(self, *names: str) -> None:
        """Start services in place of their older containers, each once what it depends on is there."""
        for name, service in self.services.items():
            if name in (names or self.services):
                for other, needed in dict(service.get("depends_on") or {}).items():
                    self.wait_for(other, needed["condition"])
                self.remove(name)
                arguments = self._read_service(name, service)
                run("podman", "run", "--detach", "--name", f"{PROJECT}-{name}", *arguments)

    def remove(self, name: str, *, at_once: bool = False) -> None:
        """Stop a container, within the time that the file grants it, and remove it."""
        if not at_once:
            run("podman", "stop", "--ignore", f"{PROJECT}-{name}")
        run("podman", "rm", "--force", "--ignore", "--time=0", f"{PROJECT}-{name}")

    def down(self) -> None:
        """Remove the containers, networks and volumes of the project."""
        for name in run("podman", "ps", "--all", "--format={{.Names}}").split():
            if name.startswith(f"{PROJECT}-"):
                self.remove(name.removeprefix(f"{PROJECT}-"), at_once=True)
        for kind in ("network", "volume"):
            for name in run("podman", kind, "ls", "--format={{.Name}}").split():
                if name.startswith(f"{PROJECT}_"):
                    run("podman", kind, "rm", name)

    def run_once(self, name: str, *command: str) -> str:
        """Run a command as `docker compose run --rm` does."""
        service = {**self.services[name], "command": command, "ports": [], "restart": "no"}
        return run("podman", "run", "--rm", *self._read_service("run", service))

    def execute(self, name: str, *command: str) -> str:
        """Run a command in the container of a service."""
        return run("podman", "exec", f"{PROJECT}-{name}", *command)

    def inspect(self, name: str) -> dict[str, Any]:
        """Return what podman knows of the container of a service."""
        [found] = json.loads(run("podman", "inspect", f"{PROJECT}-{name}"))
        return found

    def address(self, name: str, network: str) -> str:
        """Return the address of a container in a network."""
        return self.inspect(name)["NetworkSettings"]["Networks"][f"{PROJECT}_{network}"][
            "IPAddress"
        ]

    def wait_for(self, name: str, condition: str = "service_healthy") -> None:
        """Wait for a condition of `depends_on`."""
        if condition == "service_completed_successfully":
            # `podman wait` forgets the code of a container that ended more than five minutes ago.
            wait_until(lambda: self.has_succeeded(name), 180, explain=lambda: self.read_log(name))
        elif condition != "service_started":
            wait_until(
                lambda: self.is_healthy(name), 180, pause=0.5, explain=lambda: self.read_log(name)
            )

    def has_succeeded(self, name: str) -> bool:
        """Return whether a container has ended without an error."""
        state = self.inspect(name)["State"]
        return state["Status"] == "exited" and state["ExitCode"] == 0

    def read_log(self, name: str) -> str:
        """Return the last lines that a container wrote."""
        return run("sh", "-c", f"podman logs --tail=30 {PROJECT}-{name} 2>&1")

    def is_healthy(self, name: str) -> bool:
        """Run the health check of a service; podman needs systemd to run it."""
        kind, *test = self.services[name]["healthcheck"]["test"]
        command = test if kind == "CMD" else ["/bin/sh", "-c", *test]
        return succeeds("podman", "exec", f"{PROJECT}-{name}", *command)

    def _read_service(self, name: str, service: dict[str, Any]) -> list[str]:
        handled = {"image", "build", "depends_on", "healthcheck", "command"}
        rest = {key: value for key, value in service.items() if key not in handled}
        # podman's own folders in memory, which Docker has not, would hide that one is missing.
        flags = ["--pull=never", "--read-only-tmpfs=false"]
        flags += [
            f"--init={rest.pop('init', False)}",
            f"--read-only={rest.pop('read_only', False)}",
        ]
        for key in OPTIONS.keys() & rest.keys():
            value = rest.pop(key)
            flags += [
                f"{OPTIONS[key]}={each}" for each in ([value] if isinstance(value, str) else value)
            ]
        flags += [f"--mount={read_tmpfs(each)}" for each in rest.pop("tmpfs", ())]
        flags += [f"--volume={self._read_volume(each)}" for each in rest.pop("volumes", ())]
        flags += [f"--env={key}={each}" for key, each in rest.pop("environment", {}).items()]
        alias, _ = self.replicas.get(name, (name, None))
        flags += [f"--network={PROJECT}_{each}:alias={alias}" for each in rest.pop("networks")]
        if grace := rest.pop("stop_grace_period", None):
            flags.append(f"--stop-timeout={grace.removesuffix('s')}")
        if entrypoint := rest.pop("entrypoint", None):
            flags.append(f"--entrypoint={json.dumps(entrypoint)}")
        assert not rest, f"{name} in compose.yaml has keys that are not tried here: {sorted(rest)}"
        return [*flags, local_name(service["image"]), *service.get("command", ())]

    def _read_volume(self, text: str) -> str:
        source, _, target = text.partition(":")
        if source.startswith("/"):
            return text
        if not source.startswith("."):
            return f"{PROJECT}_{text}"
        file = (DOCKER / source).resolve()
        if file.name == "nginx.conf":
            # podman's resolver in place of Docker's.
            [network] = json.loads(run("podman", "network", "inspect", f"{PROJECT}_entrance"))
            settings = file.read_text()
            assert settings.count("resolver 127.0.0.11 ") == 1
            file = self._folder / file.name
            file.write_text(settings.replace("127.0.0.11", network["subnets"][0]["gateway"]))
        return f"{file}:{target}"


def read_project(*overlays: str) -> dict[str, Any]:
    """Read compose.yaml with files beside it over it: mappings are merged, lists get what is new.

    Of two volumes in one place the later one is mounted.
    """
    project = compose()
    for file in overlays:
        changes = compose(file)
        for service in changes["services"].values():
            # Aliases are for Prometheus, which is not asked here.
            service["networks"] = list(service.get("networks", ()))
            if "extends" in service:
                base = compose()["services"][service.pop("extends")["service"]]
                service.update(merge(base, service))
        project = merge(project, changes)
    for service in project["services"].values():
        targets = {volume.split(":")[1]: volume for volume in service.get("volumes", ())}
        service["volumes"] = list(targets.values())
    return project


def merge(value: Any, change: Any) -> Any:
    """Return a part of a compose file with the same part of a later file over it."""
    if isinstance(value, dict) and isinstance(change, dict):
        return value | {
            key: merge(value[key], each) if key in value else copy.deepcopy(each)
            for key, each in change.items()
        }
    if isinstance(value, list) and isinstance(change, list):
        return value + [each for each in change if each not in value]
    return change


def fill_in(value: Any, settings: dict[str, str]) -> Any:
    """Replace `${NAME}`, `${NAME:-default}` and `$$` in every text of a compose file."""
    if isinstance(value, dict):
        return {key: fill_in(each, settings) for key, each in value.items()}
    if isinstance(value, list):
        return [fill_in(each, settings) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(
        r"\$(?:\$|\{(\w+)(?::(?:-([^}]*)|\?[^}]*))?\})",
        lambda found: settings.get(found[1], found[2]) if found[1] else "$",
        value,
    )


def read_tmpfs(text: str) -> str:
    """Return a file system in memory as podman's option: one with an owner is the container's user's."""
    path, _, options = text.partition(":")
    given = dict(option.split("=") for option in options.split(","))
    mount = f"type=tmpfs,destination={path},tmpfs-mode={given['mode']},tmpfs-size={given['size']}"
    return mount + (",U=true" if "uid" in given else "")
