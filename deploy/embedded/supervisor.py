"""The supervisor: starts the farm's processes, restarts failed ones, reports their state and stops all in order."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Final, NoReturn

from deploy.embedded.child import Child, ChildSpec, rotate_log
from deploy.embedded.data_folder import DataFolder, FarmRecord
from deploy.embedded.logs import LogTail, last_lines
from deploy.embedded.loopback import LOOPBACK
from deploy.embedded.plan import (
    FarmPlan,
    RedisServer,
    configure_server,
    operator_environment,
    plan_farm,
    process_name,
    process_specs,
    redis_spec,
)
from shared import clock
from shared.errors import is_disk_full
from shared.parent_death import die_with_parent

TICK_SECONDS: Final = 0.1
START_SECONDS: Final = 60.0
PUBLISH_AGAIN_SECONDS: Final = 1.0
FAILED_STARTS: Final = 3  # a process that ends this often before the farm is ready is given up


class FarmStartFailed(Exception):
    """The farm did not start; the message names the process and shows the end of its log."""


class StopRequested(Exception):
    """The operator requested a stop during the start."""


@dataclass(frozen=True, slots=True)
class FarmOptions:
    """Options of `pressroom up`. Port 0 is any free port; `workers` None keeps the setting, `shards` None
    the number in the folder.
    """

    port: int = 8000
    workers: int | None = None
    shards: int | None = None
    shows_logs: bool = False


class EmbeddedFarm:
    """One embedded farm on one data folder.

    Start and run it from the main thread: the parent-death signal follows the thread that starts the
    processes.
    """

    def __init__(
        self, folder: DataFolder, options: FarmOptions, *, report: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._options = options
        self._report = report
        self._stop_requests = 0
        self._is_restart = False
        self._children: list[Child] = []  # in stop order
        self._tail = LogTail(report) if options.shows_logs else None
        self._lock: IO[str] | None = None
        self._listener: socket.socket | None = None
        self._record: FarmRecord | None = None
        self._is_published = True
        self._publish_at = 0.0

    def request_stop(self) -> None:
        """End `run` or the start; a second call stops without waiting for running work.

        Safe to call from a signal handler.
        """
        self._stop_requests += 1
        self._is_restart = False

    def request_restart(self) -> None:
        """As a first `request_stop`, but `stop` starts the command of this process again, with its listening socket."""
        if not self._stop_requests:
            self._stop_requests = 1
            self._is_restart = True

    def start(self) -> FarmRecord:
        """Start the farm and return its record once the front is ready.

        Raises:
            FolderInUse: another farm is running on the data folder.
            FarmStartFailed: a process did not start, or the port is in use.
            WrongSetting: a `PRESSROOM_` variable of the environment is invalid.
            StopRequested: `request_stop` was called.
        """
        try:
            return self._start()
        except OSError as error:
            if not is_disk_full(error):
                raise
            raise FarmStartFailed(
                f"no disk space left for {error.filename or self._folder.path}; free some and start again"
            ) from error

    def _start(self) -> FarmRecord:
        self._folder.create()
        self._lock = self._folder.lock()
        self._folder.delete_record()  # of a killed farm, whose password and ports are obsolete
        self._listener = _listen(self._options.port)
        had = self._folder.count_shards()
        shards = self._options.shards or had
        servers = [self._configure_redis(shard) for shard in range(max(had, shards))]
        plan = plan_farm(
            self._folder,
            servers[:shards],
            given=operator_environment(),
            workers=self._options.workers,
        )
        for shard, server in enumerate(servers):
            self._launch(redis_spec(self._folder, shard))
            self._await(process_name("redis", shard), server.is_ready)
        _prepare_in_process(plan, servers)
        for shard in reversed(range(shards, len(servers))):
            self._retire(shard)
        for spec in reversed(process_specs(plan, self._folder, listener=self._listener.fileno())):
            self._launch(spec)
        self._record = self._describe(plan)
        self._publish()
        self._await("front", lambda: is_ready(self._port))
        return self._record

    def run(self) -> None:
        """Watch the processes and restart failed ones, until a stop is requested."""
        while not self._stop_requests:
            self._tick()

    def stop(self) -> None:
        """Stop in stages: the front; workers; fetcher and signer; the background; Redis.

        No process remains, also after a failed start.
        """
        if self._listener is not None and not self._is_restart:
            self._listener.close()
        asked = self._stop_requests
        for _, turn in groupby(self._children, key=lambda child: child.spec.stop_stage):
            together = list(turn)
            for child in together:
                child.request_stop()
            for child in together:
                child.stop(wait=lambda: self._wait_for_stop(asked))
        if self._lock is not None:
            self._folder.delete_record()
            self._lock.close()
        if self._listener is not None and self._is_restart:
            _start_again(self._listener)

    @property
    def _port(self) -> int:
        assert self._listener is not None
        port: int = self._listener.getsockname()[1]
        return port

    def _configure_redis(self, shard: int) -> RedisServer:
        folder = self._folder.redis_of(shard)
        folder.mkdir(mode=0o700, exist_ok=True)
        return configure_server(folder)

    def _retire(self, shard: int) -> None:
        """Stop the server of a removed shard, and delete its files."""
        child = next(c for c in self._children if c.spec.name == process_name("redis", shard))
        child.request_stop()
        child.stop(wait=lambda: self._wait_for_stop(0))
        self._children.remove(child)
        shutil.rmtree(self._folder.redis_of(shard))

    def _launch(self, spec: ChildSpec) -> None:
        rotate_log(spec.log)
        if self._tail is not None:
            self._tail.follow(spec.name, spec.log)
        child = Child(spec)
        self._children.insert(0, child)
        child.start()

    def _tick(self) -> None:
        changed = False
        for child in self._children:
            code = child.reap()
            if code is not None:
                changed = True
                self._report(f"{child.spec.name} {_ending(code)}; restarting it")
            if child.is_due:
                self._restart(child)
                changed = True
        if changed or not self._is_published:
            self._try_to_publish()
        if self._tail is not None:
            self._tail.show()
        time.sleep(TICK_SECONDS)

    def _restart(self, child: Child) -> None:
        try:
            child.start()
        except OSError as error:
            self._report(f"{child.spec.name} could not be started: {error}; retrying")

    def _await(self, name: str, is_ready: Callable[[], bool]) -> None:
        deadline = clock.ticks() + START_SECONDS
        while not is_ready():
            if self._stop_requests:
                raise StopRequested
            broken = next((c for c in self._children if c.restarts >= FAILED_STARTS), None)
            if broken is not None:
                raise FarmStartFailed(
                    _explain(f"the {broken.spec.name} does not start", broken.spec)
                )
            if clock.ticks() > deadline:
                spec = next(c.spec for c in self._children if c.spec.name == name)
                raise FarmStartFailed(
                    _explain(f"the {name} is not ready after {START_SECONDS:.0f} s", spec)
                )
            self._tick()

    def _wait_for_stop(self, asked: int) -> bool:
        if self._tail is not None:
            self._tail.show()
        time.sleep(TICK_SECONDS / 2)
        return self._stop_requests <= max(asked, 1)

    def _describe(self, plan: FarmPlan) -> FarmRecord:
        settings = plan.settings
        of_metrics = {
            name.removesuffix("_port"): port
            for name, port in vars(settings).items()
            if port and name.endswith("_metrics_port")
        }
        of_pools = {f"{pool.name}_metrics": pool.metrics_port for pool in plan.pools}
        return FarmRecord(
            pid=os.getpid(),
            url=f"http://{LOOPBACK}:{self._port}",
            database_url=settings.database_url,
            redis_url=settings.redis_url,
            broker_url=settings.broker_url,
            memory_redis_url=settings.memory_redis_url,
            blob_url=settings.blob_url,
            ports={"front": self._port, **of_metrics, **of_pools},
        )

    def _try_to_publish(self) -> None:
        """Write farm.json; on failure retry later, since a full disk must not stop the farm."""
        if self._record is None or (not self._is_published and clock.ticks() < self._publish_at):
            return
        try:
            self._publish()
        except OSError as error:
            if self._is_published:
                self._report(f"farm.json could not be written: {error}; retrying")
            self._is_published = False
            self._publish_at = clock.ticks() + PUBLISH_AGAIN_SECONDS
        else:
            self._is_published = True

    def _publish(self) -> None:
        assert self._record is not None
        running = {child.spec.name: child.pid for child in self._children if child.pid is not None}
        restarts = {child.spec.name: child.restarts for child in self._children}
        self._record = replace(self._record, processes=running, restarts=restarts)
        self._folder.write_record(self._record)


def is_ready(port: int) -> bool:
    """Return whether the front on a loopback port and its stores are ready."""
    return answers(port, "/readyz")


def answers(port: int, path: str) -> bool:
    """Return whether a process answers 200 on a loopback port, within two seconds."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


_FIRST_PASSED_DESCRIPTOR: Final = 3  # SD_LISTEN_FDS_START


def _listen(port: int) -> socket.socket:
    """Return the listening socket: one of systemd (sd_listen_fds(3)), which outlives restarts, or a new one."""
    is_for_us = os.environ.pop("LISTEN_PID", None) == str(os.getpid())
    passed = os.environ.pop("LISTEN_FDS", "0")
    if is_for_us:
        listener = socket.socket(fileno=_FIRST_PASSED_DESCRIPTOR)
        if passed != "1" or listener.family != socket.AF_INET:
            raise FarmStartFailed(
                "the socket unit must have one ListenStream=, an IPv4 address with a port"
            )
        return listener
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise FarmStartFailed(
            f"port {port} cannot be opened ({error.strerror}); choose another with --port, or 0 for any free one"
        ) from error
    listener.listen(1024)
    return listener


def _start_again(listener: socket.socket) -> NoReturn:
    """Execute the command of this process anew; it takes the socket as one of systemd."""
    os.dup2(listener.fileno(), _FIRST_PASSED_DESCRIPTOR)
    os.set_inheritable(_FIRST_PASSED_DESCRIPTOR, True)  # if it was that one already
    passed = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | passed)  # noqa: S606 - its own arguments


def _prepare_in_process(plan: FarmPlan, servers: Sequence[RedisServer]) -> None:
    """Prepare the stores in a process that ends: the supervisor keeps no memory for modules that it needs once."""
    with ProcessPoolExecutor(
        1, get_context("fork"), initializer=die_with_parent, initargs=(os.getpid(),)
    ) as process:
        process.submit(_prepare_stores, plan, servers).result()


def _prepare_stores(plan: FarmPlan, servers: Sequence[RedisServer]) -> None:
    from shared.auth.admission import AdmissionCache
    from shared.db.migrate import upgrade
    from shared.queue.connection import connect
    from shared.queue.shard_layout import ShardLayout, adopt, find_layout

    upgrade(plan.settings.database_url)
    shards = plan.settings.shards
    clients = {str(number): connect(server.url) for number, server in enumerate(servers)}
    wanted = [ShardLayout.of(shard, shards) for shard in shards]
    found = [find_layout(redis) for redis in clients.values()]
    # A new folder has nothing to migrate.
    if found not in (wanted, [None]):
        adopt(clients, retired=sorted(set(clients) - {shard.name for shard in shards}))
    for redis in clients.values():
        # Keys and accounts may have been changed while the farm was down.
        AdmissionCache(redis).drop_all()
        redis.close()


def _ending(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _explain(what: str, spec: ChildSpec) -> str:
    said = "".join(f"\n  {line}" for line in last_lines(spec.log) if line.strip())
    return f"{what}; the end of {spec.log}:{said}"


_PROC: Final = Path("/proc")
_KB: Final = 1024
# Fields of /proc/PID/stat after the name, which ends at the last bracket (proc(5)).
_STATE: Final = 0
_GROUP: Final = 2
_STARTED: Final = 19


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """Uptime and memory of a process, including its children."""

    up_seconds: float
    memory_bytes: int


def find_process(pid: int) -> ProcessFacts | None:
    """Return uptime and memory of a process group by its leader, None if that has ended."""
    own = _read_stat(pid)
    if own is None or own[_STATE] in "ZX":
        return None
    up = float((_PROC / "uptime").read_text().split()[0])
    started = int(own[_STARTED]) / os.sysconf("SC_CLK_TCK")
    memory = sum(_memory(member) for member in _group(pid))
    return ProcessFacts(max(up - started, 0.0), memory)


def _group(leader: int) -> list[int]:
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if (stat := _read_stat(pid)) and int(stat[_GROUP]) == leader]


def _read_stat(pid: int) -> list[str] | None:
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _memory(pid: int) -> int:
    """Return the proportional set size (PSS) of a process in bytes."""
    with suppress(OSError, ValueError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            name, _, amount = line.partition(":")
            if name == "Pss":
                return int(amount.split()[0]) * _KB
    return 0
