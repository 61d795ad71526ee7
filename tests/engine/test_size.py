"""Long documents: what they cost in memory and time, and the bounds they are refused at."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.clock import now
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions

ROOT = Path(__file__).parents[2]


def flow(body: str) -> Payload:
    return Payload(PayloadKind.XML, f"<document><flow>{body}</flow></document>".encode())


def check(payload: Payload) -> Findings:
    return validate(None, payload, options=RenderOptions(now=now()))


def seconds_to_check(rows: int) -> float:
    payload = flow("<table>" + "<tr><td>a</td><td>1</td></tr>" * rows + "</table>")
    begun = time.process_time()
    assert list(check(payload)) == []
    return time.process_time() - begun


def test_a_table_written_out_row_by_row_takes_time_in_proportion():
    seconds_to_check(100)
    assert seconds_to_check(2000) < 12 * seconds_to_check(500)


PEAK = """
import sys
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from datetime import UTC, datetime

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))

options = RenderOptions(now=datetime(2026, 1, 1, tzinfo=UTC))
work = {"render": render, "validate": validate}[sys.argv[1]]
def payload(count):
    body = sys.argv[2] * count
    return Payload(PayloadKind.XML, f"<document><flow>{body}</flow></document>".encode())
work(None, payload(10), options=options)
before = peak()
work(None, payload(int(sys.argv[3])), options=options)
print((peak() - before) * 1024 // int(sys.argv[3]))
"""


@pytest.mark.parametrize(
    ("what", "element", "most"),
    [
        ("render", "<p>a</p>", 2000),
        ("validate", "<p>a</p>", 1400),
        ("render", "<div><p>a</p></div>", 4500),
        ("render", "<p><b>a</b> b</p>", 4500),
    ],
)
def test_an_element_takes_no_more_memory_than_it_may(what: str, element: str, most: int):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, what, element, "20000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < most
