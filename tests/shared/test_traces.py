"""Traces: off they are nothing, on they never keep a process from ending."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.startup import open_tracer
from shared.telemetry.traces import NULL_TRACER

ROOT = Path(__file__).parents[2]

TO_NOBODY = """
import os, sys
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = sys.argv[1]
from shared.startup import open_tracer
traces = open_tracer("test", is_on=True)
with traces.span("outer", is_request=True):
    with traces.span("inner", number=1):
        assert traces.traceparent().startswith("00-")
assert traces.traceparent() is None
"""


def test_disabled_tracing_has_no_spans_and_little_cost():
    assert open_tracer("test", is_on=False) is NULL_TRACER
    begun = time.process_time()
    for _ in range(10_000):
        with NULL_TRACER.span("render", parent=None, job="job_1"):
            NULL_TRACER.set_attributes(request="req_1")
    assert time.process_time() - begun < 0.1  # 10 µs each would be 10 times what is measured
    assert NULL_TRACER.traceparent() is None


@pytest.mark.long
def test_a_collector_that_never_answers_keeps_no_process_from_ending():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        subprocess.run([sys.executable, "-c", TO_NOBODY, address], cwd=ROOT, check=True, timeout=60)
