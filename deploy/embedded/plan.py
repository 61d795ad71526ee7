"""What an embedded farm consists of: the environment of its processes and their command lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.embedded.child import ChildSpec
from deploy.embedded.home import DataFolder
from deploy.embedded.valkey import RedisServer, free_port, server_command
from shared.settings import Settings, load_settings

ROOT: Final = Path(__file__).resolve().parents[2]
PREFIX: Final = "PRESSROOM_"
MARGIN_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class FarmPlan:
    """The checked settings of a farm and the environment that tells them to its processes."""

    settings: Settings
    environment: Mapping[str, str]


def plan_farm(
    folder: DataFolder, server: RedisServer, *, given: Mapping[str, str], workers: int | None = None
) -> FarmPlan:
    """Decide every setting: what `given` (the operator's environment) says, else the folder's own.

    The Redis server is always the farm's own: its append-only files are part of the data folder.

    Raises:
        WrongSetting: a setting of the operator is wrong; the text names it.
    """
    chosen = {
        "DATABASE_URL": folder.database_url,
        "BLOB_URL": folder.blob_url,
        "METRICS_DIR": str(folder.metrics),
        "WORKER_METRICS_PORT": str(free_port()),
        "COUNTER_METRICS_PORT": str(free_port()),
        "ENFORCE_RATE_LIMITS": "false",  # contract.md 4: `pressroom up` sets none unless asked
        "LOG_FORMAT": "json",
    }
    environment = {PREFIX + name: value for name, value in chosen.items()} | dict(given)
    environment[f"{PREFIX}REDIS_URL"] = server.url
    if workers is not None:
        environment[f"{PREFIX}WORKER_CONCURRENCY"] = str(workers)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), given.get("PYTHONPATH")]))
    return FarmPlan(load_settings(environment), environment)


def operator_environment() -> dict[str, str]:
    """Give the environment this process was started with: what the operator chose."""
    return dict(os.environ)


def redis_spec(folder: DataFolder) -> ChildSpec:
    """Tell how the private Redis server runs."""
    return ChildSpec(
        name="redis",
        command=server_command(folder.redis),
        environment={},
        log=folder.logs / "redis.log",
        stop_seconds=15.0,
    )


def process_specs(plan: FarmPlan, folder: DataFolder, *, listener: int) -> list[ChildSpec]:
    """Tell how the farm's own processes run, in the order they stop: front, worker, counter.

    `listener` is the descriptor of the listening socket. The front inherits it, so a connection made
    while the front starts again waits instead of being refused.
    """
    budget = plan.settings.render_budget
    front = [
        "gunicorn",
        "-c",
        "python:api.gunicorn_conf",
        "--bind",
        f"fd://{listener}",
        "api.wsgi:app",
    ]
    return [
        _python(
            plan, folder, "front", front, stop=budget + MARGIN_SECONDS, descriptors=(listener,)
        ),
        _python(plan, folder, "worker", ["workers.farm.main"], stop=budget + MARGIN_SECONDS),
        _python(plan, folder, "counter", ["workers.counter.main"], stop=15.0),
    ]


def _python(
    plan: FarmPlan,
    folder: DataFolder,
    name: str,
    module: list[str],
    *,
    stop: float,
    descriptors: tuple[int, ...] = (),
) -> ChildSpec:
    return ChildSpec(
        name=name,
        # -P: a file of the folder one happens to stand in must not shadow a library.
        command=[sys.executable, "-P", "-m", *module],
        environment=plan.environment,
        log=folder.logs / f"{name}.log",
        stop_seconds=stop,
        descriptors=descriptors,
    )
