"""The rules name only what is exported, and every alert has a test and a page of the runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from shared.queue.names import QUEUES
from shared.telemetry import metrics

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/prometheus"
SERIES = {name for spec in metrics.ALL for name in spec.series}
LABELS = {label for spec in metrics.ALL for label in spec.labels}
BESIDE = {"le", "job", "instance"}


def rules(file):
    document = yaml.safe_load((FOLDER / "rules" / file).read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


ALERTS = rules("alerts.yml")
RECORDED = rules("recording.yml")
TESTED = [
    test
    for file in sorted((FOLDER / "tests").glob("*.yml"))
    for test in yaml.safe_load(file.read_text())["tests"]
]


@pytest.mark.parametrize(
    "rule", ALERTS + RECORDED, ids=lambda rule: rule.get("alert", rule.get("record"))
)
def test_every_rule_uses_existing_metrics(rule):
    expression = rule["expr"]
    assert set(re.findall(r"\bpressroom_\w+", expression)) <= SERIES
    recorded = set(re.findall(r"\b\w+:\w+:\w+", expression))
    assert recorded <= {rule["record"] for rule in RECORDED}
    named = set(re.findall(r"[{,]\s*(\w+)\s*[=!]", expression))
    named |= {
        label.strip()
        for inside in re.findall(r"\bby \(([^)]*)\)", expression)
        for label in inside.split(",")
    }
    assert named <= LABELS | BESIDE


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_every_alert_has_a_description_and_a_runbook_link(alert):
    name = alert["alert"]
    assert alert["labels"]["severity"] in {"page", "ticket"}
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
    link = alert["annotations"]["runbook_url"]
    assert link == "{{ $externalLabels.runbook }}deploy/docs/runbook.md#" + name.lower()
    headings = re.findall(r"^#+ (.*)$", (ROOT / "deploy/docs/runbook.md").read_text(), re.MULTILINE)
    assert name in headings


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_is_shown_quiet_and_firing(alert):
    [test] = [test for test in TESTED if test["name"] == alert["alert"]]
    quiet, firing = test["alert_rule_test"]
    assert quiet["alertname"] == firing["alertname"] == alert["alert"]
    assert quiet["exp_alerts"] == []
    [fired] = firing["exp_alerts"]
    assert fired["exp_labels"]["severity"] == alert["labels"]["severity"]


def test_alerts_distinguish_the_queues_that_clients_wait_for():
    waited_for = {"interactive", "validate"}
    assert waited_for < set(QUEUES)
    expressions = [rule["expr"] for rule in ALERTS if "QueueOld" in rule["alert"]]
    assert all("interactive|preview|validate" in expression for expression in expressions)


def test_every_metric_of_a_process_is_scraped_on_the_port_it_is_given():
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    ports = {job["job_name"]: job["dns_sd_configs"][0]["port"] for job in config["scrape_configs"]}
    assert set(ports) == {
        "front",
        "worker",
        "batch",
        "counter",
        "maintenance",
        "webhooks",
        "fetcher",
        "signer",
    }
    for job in config["scrape_configs"]:
        assert job["dns_sd_configs"][0]["names"] == [job["job_name"]]
