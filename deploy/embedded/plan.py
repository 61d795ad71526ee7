"""What an embedded farm consists of: the environment of its processes and their command lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deploy.embedded.child import ChildSpec
from deploy.embedded.home import DataFolder
from deploy.embedded.loopback import LOOPBACK, free_port
from deploy.embedded.valkey import SERVER_ENVIRONMENT, RedisServer, server_command

if TYPE_CHECKING:
    from shared.settings import Settings

ROOT: Final = Path(__file__).resolve().parents[2]
PREFIX: Final = "PRESSROOM_"
SECRET_KEYS: Final = f"{PREFIX}SECRET_KEYS"
MARGIN_SECONDS: Final = 5.0
# Every render is refused while Redis is away: shorter than the 2 s that a 503 may outlast its cause.
REDIS_DELAY_SECONDS: Final = 0.5
_LAST_TURN: Final = 4
# A pool of its own for each kind of work: a batch never holds a slot that a client waits for.
INTERACTIVE_POOL: Final = {f"{PREFIX}WORKER_QUEUES": "interactive,validate"}
BATCH_POOL: Final = {
    f"{PREFIX}WORKER_QUEUES": "batch",
    f"{PREFIX}WORKER_NICE": "10",
}


_POOLS: Final = {"worker": INTERACTIVE_POOL, "batch": BATCH_POOL}


@dataclass(frozen=True, slots=True)
class Pool:
    """A worker of one kind of work on one shard; `kind` is its process's name on the first shard."""

    kind: str
    shard: int
    environment: Mapping[str, str]
    metrics_port: int

    @property
    def name(self) -> str:
        """Name its process."""
        return name_of(self.kind, self.shard)


@dataclass(frozen=True, slots=True)
class FarmPlan:
    """The checked settings of a farm and the environment that tells them to its processes."""

    settings: Settings
    environment: Mapping[str, str]
    pools: tuple[Pool, ...]


def plan_farm(
    folder: DataFolder,
    servers: Sequence[RedisServer],
    *,
    given: Mapping[str, str],
    workers: int | None = None,
) -> FarmPlan:
    """Decide every setting: what `given` (the operator's environment) says, else the folder's own.

    The Redis servers, one for each shard, are always the farm's own: their append-only files are
    part of the data folder.

    Raises:
        WrongSetting: a setting of the operator is wrong; the text names it.
    """
    fetcher_port = free_port()
    chosen = {
        "DATABASE_URL": folder.database_url,
        "BLOB_URL": folder.blob_url,
        "METRICS_DIR": str(folder.metrics),
        "METRICS_ADDRESS": LOOPBACK,
        "WORKER_METRICS_PORT": str(free_port()),
        "COUNTER_METRICS_PORT": str(free_port()),
        "KEEPER_METRICS_PORT": str(free_port()),
        "HOOKS_METRICS_PORT": str(free_port()),
        "FETCHER_METRICS_PORT": str(free_port()),
        "FETCHER_BIND": f"{LOOPBACK}:{fetcher_port}",
        "FETCHER_URL": f"http://{LOOPBACK}:{fetcher_port}",
        "ENFORCE_RATE_LIMITS": "false",  # contract.md 4: `pressroom up` sets none unless asked
        "LOG_FORMAT": "json",
    }
    environment = {PREFIX + name: value for name, value in chosen.items()} | dict(given)
    if not environment.get(SECRET_KEYS):
        environment[SECRET_KEYS] = folder.read_secret_key()
    environment[f"{PREFIX}REDIS_URL"] = " ".join(server.url for server in servers)
    environment.pop(f"{PREFIX}REDIS_SHARD", None)
    if workers is not None:
        environment[f"{PREFIX}WORKER_CONCURRENCY"] = str(workers)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), given.get("PYTHONPATH")]))
    pools = tuple(
        Pool(name, shard, queues, free_port())
        for shard in range(len(servers))
        for name, queues in _POOLS.items()
    )
    # Late: most commands ask this module for an environment alone.
    from shared.settings import load_settings

    # The first pool's port is the operator's to choose.
    settings = load_settings(environment)
    first = replace(pools[0], metrics_port=settings.worker_metrics_port)
    return FarmPlan(settings, environment, (first, *pools[1:]))


def operator_environment() -> dict[str, str]:
    """Give the environment this process was started with: what the operator chose."""
    return dict(os.environ)


def name_of(kind: str, shard: int) -> str:
    """Name a process that each shard has one of: that of the first shard as if it were the only one."""
    return f"{kind}-{shard}" if shard else kind


def redis_spec(folder: DataFolder, shard: int) -> ChildSpec:
    """Tell how the private Redis server of a shard runs."""
    name = name_of("redis", shard)
    return ChildSpec(
        name=name,
        command=server_command(folder.redis_of(shard)),
        environment=SERVER_ENVIRONMENT,
        log=folder.logs / f"{name}.log",
        stop_seconds=15.0,
        stop_turn=_LAST_TURN,
        longest_delay_seconds=REDIS_DELAY_SECONDS,
    )


def process_specs(plan: FarmPlan, folder: DataFolder, *, listener: int) -> list[ChildSpec]:
    """Tell how the farm's own processes run, in the order they stop.

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
        *_in_turn(1, *_pools(plan, folder)),
        # Workers ask the fetcher for images to their end, and tell the counter what they did last.
        *_in_turn(
            2,
            _python(plan, folder, "keeper", ["workers.keeper.main"], stop=15.0),
            _python(plan, folder, "hooks", ["workers.hooks.main"], stop=15.0),
            _python(plan, folder, "fetcher", ["workers.fetcher.main"], stop=30.0),
        ),
        *_in_turn(3, _python(plan, folder, "counter", ["workers.counter.main"], stop=15.0)),
    ]


def _in_turn(turn: int, *specs: ChildSpec) -> list[ChildSpec]:
    return [replace(spec, stop_turn=turn) for spec in specs]


def _pools(plan: FarmPlan, folder: DataFolder) -> list[ChildSpec]:
    stop = plan.settings.render_budget + MARGIN_SECONDS
    module = ["workers.farm.main"]
    shards = [shard.name for shard in plan.settings.shards]

    def describe(pool: Pool) -> ChildSpec:
        own = {
            f"{PREFIX}REDIS_SHARD": shards[pool.shard],
            f"{PREFIX}WORKER_METRICS_PORT": str(pool.metrics_port),
        }
        beside = {**pool.environment, **own}
        return _python(plan, folder, pool.name, module, stop=stop, beside=beside)

    return [describe(pool) for pool in plan.pools]


def _read_environment(plan: FarmPlan, name: str) -> dict[str, str]:
    # Those that read documents of strangers need no key.
    return {
        variable: value
        for variable, value in plan.environment.items()
        if variable != SECRET_KEYS or name in ("front", "hooks")
    }


def _python(
    plan: FarmPlan,
    folder: DataFolder,
    name: str,
    module: list[str],
    *,
    stop: float,
    descriptors: tuple[int, ...] = (),
    beside: Mapping[str, str] | None = None,
) -> ChildSpec:
    return ChildSpec(
        name=name,
        # -P: a file of the folder one happens to stand in must not shadow a library.
        command=[sys.executable, "-P", "-m", *module],
        environment=_read_environment(plan, name) | dict(beside or {}),
        log=folder.logs / f"{name}.log",
        stop_seconds=stop,
        descriptors=descriptors,
    )
