"""Answers that save or publish a template say how much is wrong with it, as a worker finds it."""

from __future__ import annotations

import pytest

from shared.queue.names import VALIDATE
from shared.queue.worker_presence import WorkerReport, report_worker
from tests.contract.test_validate import judge, make

__all__ = ["judge"]  # a fixture

XML = {"Content-Type": "text/xml"}
BROKEN = "<document><flow><tabel/><p>{{ missing }}</p></flow></document>"
GOOD = """<document><data><sample>{"number": "R-0"}</sample><field name="number" required="true"/></data>
<flow><p>{{ number }}</p></flow></document>"""


@pytest.fixture
def present(judge):
    """Report the worker of `judge`, as real ones are every second."""
    report_worker(judge.redis, WorkerReport("w", (VALIDATE,), slots=1, busy=0))
    return judge


def test_saving_a_broken_template_counts_its_errors(caller, present):
    template = make(caller)
    answer = caller.put(f"/v2/templates/{template}", data=BROKEN, headers=XML)
    assert answer.status_code == 200
    findings = answer.json["findings"]
    assert findings == {
        "errors": 2, "warnings": 0, "validate": f"/v2/validate?template={template}",
    }  # fmt: skip
    listed = caller.post(findings["validate"], json={}).json
    assert len(listed["errors"]) == 2


def test_creating_a_broken_template_counts_its_errors(caller, present):
    answer = caller.post("/v2/templates?name=t", data=BROKEN, headers=XML)
    assert answer.status_code == 201
    assert answer.json["findings"] == {
        "errors": 2, "warnings": 0, "validate": f"/v2/validate?template={answer.json['id']}",
    }  # fmt: skip


def test_publishing_a_broken_template_counts_its_errors(caller, present):
    template = make(caller, BROKEN)
    for status in (201, 200):
        answer = caller.post(f"/v2/templates/{template}/versions", json={})
        assert answer.status_code == status
        assert answer.json["findings"]["errors"] == 2
        assert answer.json["findings"]["validate"] == f"/v2/validate?template={template}@1"


def test_required_data_that_the_sample_has_are_no_error_of_a_template(caller, present):
    template = make(caller, GOOD)
    answer = caller.put(f"/v2/templates/{template}", data=GOOD, headers=XML)
    assert answer.json["findings"]["errors"] == 0


def test_without_a_worker_the_findings_are_null_and_nothing_waits(caller, worker):
    template = make(caller)
    answer = caller.put(f"/v2/templates/{template}", data=BROKEN, headers=XML)
    assert (answer.status_code, answer.json["findings"]) == (200, None)
    published = caller.post(f"/v2/templates/{template}/versions", json={})
    assert (published.status_code, published.json["findings"]) == (201, None)
    assert worker.jobs == []


def test_a_busy_worker_delays_the_answer_by_two_seconds_at_most(caller, present):
    template = make(caller)
    present.answer = lambda job: None
    answer = caller.put(f"/v2/templates/{template}", data=BROKEN, headers=XML)
    assert (answer.status_code, answer.json["findings"]) == (200, None)


def test_a_template_without_content_has_no_findings(caller, present):
    template = make(caller)
    answer = caller.put(f"/v2/templates/{template}", data="", headers=XML)
    assert (answer.status_code, answer.json["findings"]) == (200, None)
