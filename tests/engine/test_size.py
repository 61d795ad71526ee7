"""Long documents: what they cost in memory and time, and the bounds they are refused at."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.clock import now
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.tree.build_state import LIMITS

ROOT = Path(__file__).parents[2]


def flow(body: str) -> Payload:
    return Payload(PayloadKind.XML, f"<document><flow>{body}</flow></document>".encode())


def check(payload: Payload) -> Findings:
    return validate(None, payload, options=RenderOptions(now=now()))


def seconds_to_check(rows: int) -> float:
    payload = flow("<table>" + "<tr><td>a</td><td>1</td></tr>" * rows + "</table>")
    gc.disable()  # a collection looks at all that other tests left
    begun = time.process_time()
    assert list(check(payload)) == []
    took = time.process_time() - begun
    gc.enable()
    return took


@pytest.mark.long
def test_a_table_written_out_row_by_row_takes_time_in_proportion():
    seconds_to_check(100)
    assert seconds_to_check(4000) < 24 * seconds_to_check(500)  # in quadratic time it would be 64


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


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "element", "most"),
    [
        ("render", "<p>a</p>", 2500),
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


def errors_of(payload: Payload, template: bytes | None = None) -> list[str]:
    prepared = None if template is None else prepare_template(template)
    try:
        render(prepared, payload, options=RenderOptions(now=now()))
    except AuthoringError as error:
        return [each.text for each in error.diagnostics]
    return []


@pytest.mark.long
def test_too_many_elements_are_reported_with_count_and_position():
    payload = flow("<p/>" * 400_000)
    (finding,) = check(payload).errors
    assert finding.text == (
        "The document has more than 400,000 elements. Split it into several [too-large]"
    )
    assert finding.location is not None
    assert finding.location.tag_name == "flow"
    assert errors_of(payload) == [finding.text]


def test_paragraphs_that_loops_make_are_counted(monkeypatch: pytest.MonkeyPatch):
    few = LIMITS["too-many-paragraphs"]._replace(most=10)
    monkeypatch.setitem(LIMITS, "too-many-paragraphs", few)
    template = (
        b"<document><data><json>{}</json></data>"
        b'<flow><div for="i in [1, 2, 3]"><p>a</p><p>b</p><p>c</p></div><p>d</p><p>e</p></flow></document>'
    )
    (error,) = errors_of(Payload(PayloadKind.JSON, b"{}"), template)
    assert error == (
        "The document has more than 10 paragraphs. Split its data into several documents, or set "
        "lists as rows of a table, which take less [too-many-paragraphs]"
    )
    fits = template.replace(b"<p>e</p>", b"")
    assert errors_of(Payload(PayloadKind.JSON, b"{}"), fits) == []


@pytest.mark.parametrize("tag", ["p", "td"])
def test_a_text_too_long_for_a_paragraph_is_reported_before_layout(tag: str):
    body = f"<{tag}>{'a ' * 2_500_001}</{tag}>"
    payload = flow(f"<table><tr>{body}</tr></table>" if tag == "td" else body)
    (finding,) = check(payload).errors
    assert finding.text == (
        "The text of one paragraph has 5,000,002 characters, accepted are at most 5,000,000. "
        "Split it into several paragraphs [too-long]"
    )
    assert finding.location is not None
    assert finding.location.tag_name == tag
    assert errors_of(payload) == [finding.text]


@pytest.mark.long
@pytest.mark.parametrize("body", [b"<p>{{ t }}</p>", b"<table><tr><td>{{ t }}</td></tr></table>"])
def test_a_data_text_too_long_for_a_paragraph_is_reported_before_line_breaking(body: bytes):
    template = b'<document><data><json>{"t": ""}</json></data><flow>%b</flow></document>' % body
    payload = Payload(PayloadKind.JSON, b'{"t": "%b"}' % (b"a " * 2_600_000))
    (error,) = errors_of(payload, template)
    assert "has 5,199,999 characters" in error
