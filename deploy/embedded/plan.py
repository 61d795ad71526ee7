"""The processes of an embedded farm: their environments and command lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deploy.embedded.child import ChildSpec
from deploy.embedded.data_folder import DataFolder
from deploy.embedded.loopback import LOOPBACK, free_port
from deploy.embedded.valkey import SERVER_ENVIRONMENT, RedisServer, server_command

if TYPE_CHECKING:
    from shared.settings import Settings

ROOT: Final = Path(__file__).resolve().parents[2]
PREFIX: Final = "PRESSROOM_"
SECRET_KEYS: Final = f"{PREFIX}SECRET_KEYS"
SIGNER_CERTIFICATES: Final = f"{PREFIX}SIGNER_CERTIFICATES"
MARGIN_SECONDS: Final = 5.0
# Every render is refused while Redis is down: shorter than the 2 s within which service must recover.
REDIS_DELAY_SECONDS: Final = 0.5
_LAST_STOP_STAGE: Final = 4
# gunicorn kills its processes after two, within which they abandon renders and answer their clients.
FRONT_QUIT_SECONDS: Final = 3.0
# Separate pools, so that batches never occupy the slots of interactive renders.
INTERACTIVE_POOL: Final = {f"{PREFIX}WORKER_QUEUES": "interactive,preview,validate"}
BATCH_POOL: Final = {
    f"{PREFIX}WORKER_QUEUES": "batch",
    f"{PREFIX}WORKER_NICE": "10",
}


_POOLS: Final = {"worker": INTERACTIVE_POOL, "batch": BATCH_POOL}


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """A worker of one pool and shard; `kind` is the name of its process on the first shard."""

    kind: str
    shard: int
    environment: Mapping[str, str]
    metrics_port: int

    @property
    def name(self) -> str:
        """The name of its process."""
        return process_name(self.kind, self.shard)


@dataclass(frozen=True, slots=True)
class FarmPlan:
    """The checked settings of a farm, and the environment that passes them to its processes."""

    settings: Settings
    environment: Mapping[str, str]
    pools: tuple[WorkerPool, ...]


def plan_farm(
    folder: DataFolder,
    servers: Sequence[RedisServer],
    *,
    given: Mapping[str, str],
    workers: int | None = None,
) -> FarmPlan:
    """Determine all settings from the operator's environment `given`, with defaults for the folder.

    The Redis servers, one for each shard, are always the farm's own: their append-only files are part of
    the data folder.

    Raises:
        WrongSetting: a setting of the operator is invalid; the message names it.
    """
    fetcher_port, signer_port = free_port(), free_port()
    chosen = {
        "DATABASE_URL": folder.database_url,
        "BLOB_URL": folder.blob_url,
        "METRICS_DIR": str(folder.metrics),
        "METRICS_ADDRESS": LOOPBACK,
        "WORKER_METRICS_PORT": str(free_port()),
        "COUNTER_METRICS_PORT": str(free_port()),
        "MAINTENANCE_METRICS_PORT": str(free_port()),
        "WEBHOOKS_METRICS_PORT": str(free_port()),
        "FETCHER_METRICS_PORT": str(free_port()),
        "FETCHER_BIND": f"{LOOPBACK}:{fetcher_port}",
        "FETCHER_URL": f"http://{LOOPBACK}:{fetcher_port}",
        "SIGNER_METRICS_PORT": str(free_port()),
        "SIGNER_BIND": f"{LOOPBACK}:{signer_port}",
        "ENFORCE_RATE_LIMITS": "false",  # off by default in `pressroom up`
        "STUDIO_LOCAL_HTTP": "true",  # the front listens on loopback without TLS
        "LOG_FORMAT": "json",
    }
    if given.get(SIGNER_CERTIFICATES):
        chosen["SIGNER_URL"] = f"http://{LOOPBACK}:{signer_port}"
    environment = {PREFIX + name: value for name, value in chosen.items()} | dict(given)
    if not environment.get(SECRET_KEYS):
        environment[SECRET_KEYS] = folder.read_secret_key()
    environment[f"{PREFIX}REDIS_URL"] = " ".join(server.url for server in servers)
    environment.pop(f"{PREFIX}REDIS_SHARD", None)
    if workers is not None:
        environment[f"{PREFIX}WORKER_CONCURRENCY"] = str(workers)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), given.get("PYTHONPATH")]))
    pools = tuple(
        WorkerPool(name, shard, queues, free_port())
        for shard in range(len(servers))
        for name, queues in _POOLS.items()
    )
    # Late: most commands need only the environment of this module.
    from shared.settings import load_settings

    settings = load_settings(environment)
    _check_signer(settings)
    # The operator may set the port of the first pool.
    first = replace(pools[0], metrics_port=settings.worker_metrics_port)
    return FarmPlan(settings, environment, (first, *pools[1:]))


def _check_signer(settings: Settings) -> None:
    from shared.settings import WrongSetting

    if not settings.signer_certificates:
        return
    if not Path(settings.signer_certificates).is_dir():
        raise WrongSetting(
            "PRESSROOM_SIGNER_CERTIFICATES: there is no folder "
            f"{settings.signer_certificates[:200]!r}"
        )
    if find_spec("pyhanko") is None:
        raise WrongSetting(
            "PRESSROOM_SIGNER_CERTIFICATES: signing needs pyHanko: pip install 'pressroom[sign]'"
        )


def operator_environment() -> dict[str, str]:
    """Return the environment of this process, which has the operator's settings."""
    return dict(os.environ)


def process_name(kind: str, shard: int) -> str:
    """Return the name of a shard's process; that of the first shard has no number."""
    return f"{kind}-{shard}" if shard else kind


def redis_spec(folder: DataFolder, shard: int) -> ChildSpec:
    """Return the specification of a shard's private Redis server."""
    name = process_name("redis", shard)
    return ChildSpec(
        name=name,
        command=server_command(folder.redis_of(shard)),
        environment=SERVER_ENVIRONMENT,
        log=folder.logs / f"{name}.log",
        stop_seconds=15.0,
        stop_stage=_LAST_STOP_STAGE,
        longest_delay_seconds=REDIS_DELAY_SECONDS,
    )


def process_specs(plan: FarmPlan, folder: DataFolder, *, listener: int) -> list[ChildSpec]:
    """Return the specifications of the farm's processes, in stop order.

    `listener` is the descriptor of the listening socket. The front inherits it, so that connections made
    during its restart wait instead of being refused.
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
        replace(
            _python(plan, folder, "front", front, stop=budget + MARGIN_SECONDS),
            descriptors=(listener,),
            quit_seconds=FRONT_QUIT_SECONDS,
        ),
        *_in_stage(1, *_pools(plan, folder)),
        # Stopped after the workers, which use the fetcher and the signer and write usage events until their end.
        *_in_stage(
            2,
            _python(plan, folder, "maintenance", ["workers.maintenance.main"], stop=15.0),
            _python(plan, folder, "webhooks", ["workers.webhooks.main"], stop=15.0),
            _python(plan, folder, "fetcher", ["workers.fetcher.main"], stop=30.0),
            *_signers(plan, folder),
        ),
        *_in_stage(3, _python(plan, folder, "counter", ["workers.counter.main"], stop=15.0)),
    ]


def _in_stage(turn: int, *specs: ChildSpec) -> list[ChildSpec]:
    return [replace(spec, stop_stage=turn) for spec in specs]


def _pools(plan: FarmPlan, folder: DataFolder) -> list[ChildSpec]:
    stop = plan.settings.render_budget + MARGIN_SECONDS
    module = ["workers.farm.main"]
    shards = [shard.name for shard in plan.settings.shards]

    def describe(pool: WorkerPool) -> ChildSpec:
        own = {
            f"{PREFIX}REDIS_SHARD": shards[pool.shard],
            f"{PREFIX}WORKER_METRICS_PORT": str(pool.metrics_port),
        }
        beside = {**pool.environment, **own}
        return _python(plan, folder, pool.name, module, stop=stop, beside=beside)

    return [describe(pool) for pool in plan.pools]


def _signers(plan: FarmPlan, folder: DataFolder) -> list[ChildSpec]:
    if not plan.settings.signer_certificates:
        return []
    return [_python(plan, folder, "signer", ["workers.signer.main"], stop=30.0)]


def _read_environment(plan: FarmPlan, name: str) -> dict[str, str]:
    # Processes that handle untrusted documents get no key.
    users = {SECRET_KEYS: ("front", "webhooks"), SIGNER_CERTIFICATES: ("signer",)}
    return {
        variable: value
        for variable, value in plan.environment.items()
        if name in users.get(variable, (name,))
    }


def _python(
    plan: FarmPlan,
    folder: DataFolder,
    name: str,
    module: list[str],
    *,
    stop: float,
    beside: Mapping[str, str] | None = None,
) -> ChildSpec:
    return ChildSpec(
        name=name,
        # -P: files in the current folder must not shadow libraries.
        command=[sys.executable, "-P", "-m", *module],
        environment=_read_environment(plan, name) | dict(beside or {}),
        log=folder.logs / f"{name}.log",
        stop_seconds=stop,
    )
