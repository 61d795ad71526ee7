"""Traces: off they are nothing, on they never keep a process from ending."""

import socket
import subprocess
import sys
import time
from pathlib import Path

from shared.telemetry.traces import UNTRACED, open_traces

ROOT = Path(__file__).parents[2]

TO_NOBODY = """
import os, sys
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = sys.argv[1]
from shared.telemetry.traces import open_traces
traces = open_traces("test", is_on=True)
with traces.serve("outer", parent=None):
    with traces.span("inner", number=1):
        assert traces.traceparent().startswith("00-")
assert traces.traceparent() is None
"""


def test_what_is_off_has_no_spans_and_costs_next_to_nothing():
    assert open_traces("test", is_on=False) is UNTRACED
    begun = time.process_time()
    for _ in range(10_000):
        with UNTRACED.span("render", parent=None, job="job_1"):
            UNTRACED.tell(request="req_1")
    assert time.process_time() - begun < 0.1  # 10 µs each would be 10 times what is measured
    assert UNTRACED.traceparent() is None


def test_a_collector_that_never_answers_keeps_no_process_from_ending():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", TO_NOBODY, address], cwd=ROOT, check=True, timeout=60)
        assert time.monotonic() - begun < 15
