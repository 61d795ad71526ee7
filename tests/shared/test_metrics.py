"""The metrics of the front over its processes, and of the farm out of Redis."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from prometheus_client import generate_latest

from shared.errors import ErrorBody, ErrorKind
from shared.jobs import Allowance, JobOutcome, OutcomeStatus
from shared.telemetry.metrics import FarmCollector, QueueDepth, farm_registry, worker_registry
from shared.telemetry.totals import count_outcome, read_totals

ROOT = Path(__file__).parents[2]

TWO_PROCESSES = """
import os, sys
from shared.telemetry.metrics import FrontMetrics, clear_metrics_dir, forget_process
clear_metrics_dir(sys.argv[1])
metrics = FrontMetrics(sys.argv[1])
children = []
for number in range(2):
    pid = os.fork()
    if pid == 0:
        metrics.observe(route="/v2/pdf", method="POST", status=200, seconds=0.02)
        os._exit(0)
    os.waitpid(pid, 0)
    forget_process(pid, sys.argv[1])
print(metrics.exposition().decode())
"""


def test_counts_of_all_front_processes_add_up_after_they_ended(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", TWO_PROCESSES, str(tmp_path / "metrics")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    line = 'pressroom_http_requests_total{method="POST",route="/v2/pdf",status="200"} 2.0'
    assert line in done.stdout
    assert 'le="0.025",method="POST",route="/v2/pdf"} 2.0' in done.stdout


def test_the_farm_shows_every_outcome_stage_and_depth():
    sums: dict[str, float] = {}
    outcomes = [
        (Allowance.PRODUCTION, succeeded(pages=4, layout=30.0)),
        (Allowance.PRODUCTION, succeeded(pages=1, layout=70_000.0)),
        (Allowance.DRAFT, failed(ErrorKind.TIMEOUT)),
    ]
    for allowance, outcome in outcomes:
        for name, amount in count_outcome(outcome, allowance=allowance).items():
            sums[name] = sums.get(name, 0) + amount
    collector = FarmCollector(
        read_totals=lambda: read_totals(sums | {"abandoned": 2}),
        read_depth=lambda: QueueDepth(5, 2, 1.5, 7, 1),
    )
    text = generate_latest(farm_registry(collector)).decode()
    for line in (
        'pressroom_renders_total{allowance="production",outcome="succeeded"} 2.0',
        'pressroom_renders_total{allowance="draft",outcome="timeout"} 1.0',
        'pressroom_pages_total{allowance="production"} 5.0',
        "pressroom_renders_abandoned_total 2.0",
        'pressroom_render_stage_seconds_bucket{le="0.025",stage="layout"} 0.0',
        'pressroom_render_stage_seconds_bucket{le="0.05",stage="layout"} 1.0',
        'pressroom_render_stage_seconds_bucket{le="+Inf",stage="layout"} 2.0',
        'pressroom_render_stage_seconds_sum{stage="layout"} 70.03',
        "pressroom_queue_waiting 5.0",
        "pressroom_queue_running 2.0",
        "pressroom_queue_oldest_seconds 1.5",
        "pressroom_usage_events_pending 7.0",
        "pressroom_usage_events_dead 1.0",
    ):
        assert line in text.splitlines()


def test_a_worker_shows_its_slots_and_version():
    text = generate_latest(worker_registry(slots=4)).decode()
    assert "pressroom_worker_slots 4.0" in text
    assert 'pressroom_build_info{part="worker",version=' in text


def test_every_metric_carries_the_prefix():
    collector = FarmCollector(
        read_totals=lambda: read_totals({}), read_depth=lambda: QueueDepth(0, 0, 0.0, 0, 0)
    )
    lines = generate_latest(farm_registry(collector)).decode().splitlines()
    assert all(line.startswith(("#", "pressroom_")) for line in lines)


def succeeded(*, pages: int, layout: float) -> JobOutcome:
    return JobOutcome("job_1", OutcomeStatus.SUCCEEDED, pages=pages, timings={"layout": layout})


def failed(kind: ErrorKind) -> JobOutcome:
    return JobOutcome("job_1", OutcomeStatus.FAILED, error=ErrorBody(504, "late", kind))
