"""The metrics of the front over its processes, of the farm out of Redis, and of a worker."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from shared.clock import now
from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.process import ProcessMetrics
from shared.telemetry.readings import AccountUsage, Backlog, FarmDepth, QueueDepth, StoreStatistics
from workers.counter.main import FarmCollector
from workers.farm.steps import Children

ROOT = Path(__file__).parents[2]

PROCESSES = """
import os
from prometheus_client.multiprocess import mark_process_dead
from shared.errors import ErrorBody, ErrorKind
from api.ops.routes import count_error
from shared.telemetry import metrics as m
from shared.telemetry.metrics import Exporter
from shared.telemetry.process import ProcessMetrics
metrics = ProcessMetrics(Exporter.FRONT, {m.CONNECTIONS: lambda: 64})
for number in range(7):
    pid = os.fork()
    if pid == 0:
        metrics.count(m.IN_PROGRESS)
        metrics.count(m.REQUESTS, "/v2/pdf", "POST", "200")
        metrics.observe(m.REQUEST_SECONDS, 0.02, "/v2/pdf", "POST", "2xx")
        count_error(metrics, ErrorBody(429, "", ErrorKind.RATE))
        os._exit(0)
    os.waitpid(pid, 0)
    if number % 2 == 0:
        mark_process_dead(pid)
print(metrics.exposition().decode())
"""


def test_counts_of_all_front_processes_add_up_whether_ended_or_not(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES],
        cwd=ROOT,
        env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    labels = 'method="POST",route="/v2/pdf",status_class="2xx"'
    for line in (
        'pressroom_http_requests_total{method="POST",route="/v2/pdf",status="200"} 7.0',
        f'pressroom_http_request_duration_seconds_bucket{{le="0.025",{labels}}} 7.0',
        f"pressroom_http_request_duration_seconds_count{{{labels}}} 7.0",
        'pressroom_refusals_total{reason="rate"} 7.0',
        "pressroom_http_requests_in_progress 3.0",  # of the three that still count
        "pressroom_http_connections_max 64.0",
    ):
        assert line in lines
    assert 'pressroom_build_info{part="front",version=' in done.stdout


def test_the_farm_shows_every_depth():
    depth = FarmDepth({"interactive": QueueDepth(5, 2, 1.5)}, 7, 1, 3.25, {"waiting": 3}, 800, 1000)
    census = StoreStatistics(
        {"database": True, "object_store": False},
        (
            AccountUsage("acc_1", "production", 40, 8, 2_500_000, 100),
            AccountUsage("acc_2", "production", 9, 1, 0, None),
        ),
        12_345,
        1,
        {"0": Backlog(2, 15_000, now() - timedelta(seconds=90))},
    )
    lines = farm_text(depth, census).splitlines()
    for line in (
        'pressroom_queue_waiting{queue="interactive",shard="0"} 5.0',
        'pressroom_queue_running{queue="interactive",shard="0"} 2.0',
        'pressroom_queue_oldest_seconds{queue="interactive",shard="0"} 1.5',
        'pressroom_queue_drained{queue="interactive",shard="0"} 0.0',
        'pressroom_places{shard="0",state="waiting"} 3.0',
        "pressroom_usage_events_pending 7.0",
        'pressroom_queue_memory_bytes{shard="0"} 800.0',
        'pressroom_queue_memory_limit_bytes{shard="0"} 1000.0',
        "pressroom_usage_events_dead 1.0",
        "pressroom_usage_ledger_lag_seconds 3.25",
        'pressroom_part_up{part="queue"} 1.0',
        'pressroom_part_up{part="object_store"} 0.0',
        'pressroom_account_pages{account="acc_1",allowance="production"} 40.0',
        'pressroom_account_cpu_seconds{account="acc_1",allowance="production"} 2.5',
        'pressroom_account_pages_allowed{account="acc_1",allowance="production"} 100.0',
        "pressroom_image_bytes 12345.0",
        "pressroom_blob_quota_bytes 1000.0",
        "pressroom_workspaces_nearly_full 1.0",
        'pressroom_batches_unfinished{shard="0"} 2.0',
        'pressroom_batch_documents_left{shard="0"} 15000.0',
    ):
        assert line in lines
    [age] = [line for line in lines if line.startswith("pressroom_batch_oldest_seconds{")]
    assert 90 <= float(age.split()[1]) < 100
    assert not any("allowed" in line and "acc_2" in line for line in lines)


def test_a_farm_without_redis_reports_it_with_its_other_metrics():
    shard = Shard(FarmDepth({}), is_away=True)
    collector = FarmCollector(
        {"0": shard}, read_statistics=lambda: StoreStatistics({"database": True})
    )
    text = shards_text(collector)
    assert 'pressroom_part_up{part="queue"} 0.0' in text
    assert 'pressroom_part_up{part="database"} 1.0' in text


def test_the_counts_of_several_shards_are_one_farms():
    queue = QueueDepth(5, 2, 1.5)
    shards = {
        "a": Shard(FarmDepth({"batch": queue}, 7, 1, 3.0)),
        "b": Shard(FarmDepth({"batch": queue}, 1, 0, 9.0)),
    }
    lines = shards_text(FarmCollector(shards, read_statistics=StoreStatistics)).splitlines()
    for line in (
        'pressroom_queue_waiting{queue="batch",shard="a"} 5.0',
        'pressroom_queue_waiting{queue="batch",shard="b"} 5.0',
        "pressroom_usage_events_pending 8.0",
        "pressroom_usage_events_dead 1.0",
        "pressroom_usage_ledger_lag_seconds 9.0",
        'pressroom_part_up{part="queue a"} 1.0',
        'pressroom_part_up{part="queue b"} 1.0',
    ):
        assert line in lines


def test_a_worker_shows_how_its_children_ended_and_their_memory():
    children = Children()
    worker = children.observer = ProcessMetrics(
        Exporter.WORKER, {metrics.CHILD_MEMORY: children.measure_memory}
    )
    codes = {101: 0x9B, 102: -9, 103: -6, 104: -11, 105: 1}
    children.update([*codes, os.getpid()])
    children.exit_codes.update(codes)
    children.update([os.getpid()])
    text = generate_latest(worker.registry).decode()
    for line in (
        "pressroom_worker_child_starts_total 6.0",
        *(
            f'pressroom_worker_child_exits_total{{reason="{reason}"}} 1.0'
            for reason in ("recycled", "killed", "watchdog", "crashed", "failed")
        ),
    ):
        assert line in text.splitlines()
    assert 'pressroom_build_info{part="worker",version=' in text
    [memory] = [line for line in text.splitlines() if line.startswith("pressroom_worker_child_mem")
                and "slot" in line]  # fmt: skip
    assert float(memory.split()[-1]) > 1024 * 1024


def test_a_gauge_whose_store_does_not_answer_is_left_out():
    def fail() -> int:
        raise Unavailable("database")

    process = ProcessMetrics(Exporter.WEBHOOKS, {metrics.WEBHOOKS_PENDING: fail})
    text = generate_latest(process.registry).decode()
    assert "webhooks_pending" not in text
    assert "webhook_attempts" in text


@pytest.mark.parametrize("spec", metrics.ALL, ids=lambda spec: spec.name)
def test_a_declaration_keeps_the_conventions(spec):
    assert spec.text.endswith(".")
    assert spec.buckets == tuple(sorted(spec.buckets))
    assert not spec.name.endswith(("_total", "_milliseconds", "_mb", "_percent"))


def farm_text(depth: FarmDepth, census: StoreStatistics) -> str:
    shards = {"0": Shard(depth)}
    return shards_text(FarmCollector(shards, read_statistics=lambda: census))


def shards_text(collector: FarmCollector) -> str:
    registry = ProcessMetrics(Exporter.COUNTER, {metrics.BLOB_QUOTA: lambda: 1000}).registry
    registry.register(collector)
    return generate_latest(registry).decode()


@dataclass
class Shard:
    """A Redis server as the collector sees it."""

    depth: FarmDepth
    is_away: bool = False

    def read_depth(self) -> FarmDepth:
        if self.is_away:
            raise Unavailable("queue")
        return self.depth
