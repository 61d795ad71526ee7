"""The dashboards query what the farm exports, and their panels do not overlap."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from shared.telemetry import metrics

ROOT = Path(__file__).parents[2]
GRAFANA = ROOT / "deploy/grafana"
BOARDS = {
    file.stem: json.loads(file.read_text())
    for file in sorted((GRAFANA / "dashboards").glob("*.json"))
}
SERIES = {name for spec in metrics.ALL for name in spec.series}
RECORDED = {
    rule["record"]
    for group in yaml.safe_load((ROOT / "deploy/prometheus/rules/recording.yml").read_text())[
        "groups"
    ]
    for rule in group["rules"]
}
EXPRESSIONS = [
    (name, panel["title"], target["expr"])
    for name, board in BOARDS.items()
    for panel in board["panels"]
    for target in panel.get("targets", ())
]


@pytest.mark.parametrize(("board", "title", "expression"), EXPRESSIONS)
def test_every_query_of_a_panel_uses_existing_metrics(board, title, expression):
    assert set(re.findall(r"\bpressroom_\w+", expression)) <= SERIES
    assert set(re.findall(r"\b\w+:\w+:\w+", expression)) <= RECORDED


def test_every_metric_is_shown_or_alerted_on():
    rules = "".join(
        (ROOT / "deploy/prometheus/rules" / file).read_text()
        for file in ("recording.yml", "alerts.yml")
    )
    asked = rules + json.dumps(BOARDS)
    unseen = {
        spec.name
        for spec in metrics.ALL
        if not any(re.search(rf"\b{name}\b", asked) for name in spec.series)
    }
    assert unseen <= {
        "usage_events",
        "maintenance_repairs",
        "validations",
        "inspections",
        "previews",
        "webhook_attempts",
    }


@pytest.mark.parametrize("name", BOARDS)
def test_panels_have_numbers_of_their_own_and_do_not_overlap(name):
    panels = BOARDS[name]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_provisioned_source_is_the_one_the_panels_name():
    [source] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yaml").read_text())[
        "datasources"
    ]
    used = {
        panel["datasource"]["uid"]
        for b in BOARDS.values()
        for panel in b["panels"]
        if "targets" in panel
    }
    assert used == {source["uid"]}
