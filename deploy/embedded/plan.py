"""The processes of an embedded farm: their environments and command lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
BATCH_POOL: Final = {f"{PREFIX}WORKER_QUEUES": "batch", f"{PREFIX}WORKER_NICE": "10"}


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

    def python(
        stage: int, name: str, *module: str, stop: float, beside: Mapping[str, str], **options: Any
    ) -> ChildSpec:
        return ChildSpec(
            name=name,
            # -P: files in the current folder must not shadow libraries.
            command=[sys.executable, "-P", "-m", *module],
            environment=_read_environment(plan, name) | dict(beside),
            log=folder.logs / f"{name}.log",
            stop_seconds=stop,
            stop_stage=stage,
            **options,
        )

    def process(name: str) -> ChildSpec:
        return python(2, name, f"workers.{name}.main", stop=30.0, beside={})

    def pool(each: WorkerPool) -> ChildSpec:
        own = {
            f"{PREFIX}REDIS_SHARD": plan.settings.shards[each.shard].name,
            f"{PREFIX}WORKER_METRICS_PORT": str(each.metrics_port),
        }
        beside = {**each.environment, **own}
        return python(1, each.name, "workers.farm.main", stop=longest, beside=beside)

    longest = plan.settings.render_budget + MARGIN_SECONDS
    gunicorn = ("gunicorn", "-c", "python:api.gunicorn_conf", "--bind", f"fd://{listener}")
    kept = {"descriptors": (listener,), "quit_seconds": FRONT_QUIT_SECONDS}
    return [
        python(0, "front", *gunicorn, "api.wsgi:app", stop=longest, beside={}, **kept),
        *map(pool, plan.pools),
        # Stopped after the workers, which use the fetcher and the signer and write usage events until their end.
        process("fetcher"),
        *([process("signer")] if plan.settings.signer_certificates else []),
        python(3, "background", "deploy.embedded.background", stop=15.0, beside={}),
    ]


def _read_environment(plan: FarmPlan, name: str) -> dict[str, str]:
    # Processes that handle untrusted documents get no key.
    users = {SECRET_KEYS: ("front", "background"), SIGNER_CERTIFICATES: ("signer",)}
    return {
        variable: value
        for variable, value in plan.environment.items()
        if name in users.get(variable, (name,))
    }
