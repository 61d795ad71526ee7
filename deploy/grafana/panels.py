"""Panels and layout of the dashboards, in Grafana's JSON schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]

SOURCE: Final = {"type": "prometheus", "uid": "pressroom-prometheus"}
SCHEMA_VERSION: Final = 39
COLUMNS: Final = 24

GREEN: Final = "green"
RED: Final = "red"
AMBER: Final = "orange"


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression of a panel, and the legend of its series."""

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel without a position, which `_lay_out` assigns."""

    title: str
    description: str
    queries: tuple[Query, ...]
    kind: str
    unit: str
    width: int
    height: int
    options: Mapping[str, Any]
    defaults: Mapping[str, Any]
    is_instant: bool = False


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A row: a title and its panels."""

    title: str
    panels: tuple[Panel, ...]


def timeseries_panel(
    title: str,
    *queries: Query,
    unit: str = "short",
    about: str = "",
    is_stacked: bool = False,
    width: int = 8,
) -> Panel:
    """Return a time series panel."""
    custom: Json = {"lineWidth": 1, "fillOpacity": 25 if is_stacked else 8, "showPoints": "never"}
    if is_stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    return Panel(
        title,
        about,
        queries,
        "timeseries",
        unit,
        width,
        8,
        {
            "legend": {
                "calcs": [],
                "displayMode": "list",
                "placement": "bottom",
                "showLegend": True,
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        {"custom": custom, "min": 0, "color": {"mode": "palette-classic"}},
    )


def stat_panel(
    title: str,
    query: Query,
    *,
    unit: str = "short",
    about: str = "",
    steps: Sequence[tuple[float | None, str]] = ((None, GREEN),),
    texts: Mapping[str, tuple[str, str]] | None = None,
    width: int = 4,
) -> Panel:
    """Return a stat panel: the last value in the colour of its threshold; `texts` maps values to a text and
    a colour.
    """
    defaults: Json = {"color": {"mode": "thresholds"}, **_thresholds(steps)}
    if texts:
        options = {
            value: {"text": word, "color": color, "index": index}
            for index, (value, (word, color)) in enumerate(texts.items())
        }
        defaults["mappings"] = [{"type": "value", "options": options}]
    return Panel(
        title,
        about,
        (query,),
        "stat",
        unit,
        width,
        4,
        {
            "colorMode": "value",
            "graphMode": "none" if texts else "area",
            "justifyMode": "auto",
            "orientation": "auto",
            "percentChangeColorMode": "standard",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "showPercentChange": False,
            "textMode": "value_and_name" if query.legend else "auto",
            "wideLayout": True,
        },
        defaults,
    )


def table_panel(
    title: str, *queries: Query, unit: str = "short", about: str = "", width: int = 12
) -> Panel:
    """Return a table panel: the current value of each series."""
    return Panel(
        title,
        about,
        queries,
        "table",
        unit,
        width,
        8,
        {"showHeader": True, "cellHeight": "sm", "frameIndex": 0},
        {"color": {"mode": "thresholds"}, **_thresholds(((None, GREEN),))},
        is_instant=True,
    )


def make_dashboard(
    uid: str,
    title: str,
    about: str,
    rows: Iterable[PanelRow],
    *,
    since: str = "now-3h",
    variables: Iterable[Json] = (),
) -> Json:
    """Return a dashboard."""
    return {
        "uid": uid,
        "title": f"Pressroom: {title}",
        "description": about,
        "tags": ["pressroom"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": since, "to": "now"},
        "timezone": "browser",
        "links": [_link_to_others()],
        "templating": {"list": list(variables)},
        "annotations": {"list": []},
        "panels": _lay_out(rows),
    }


def query_variable(name: str, label: str, query: str) -> Json:
    """Return a dashboard variable with the values of a label."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"},
        "refresh": 2,
        "sort": 1,
        "multi": False,
        "includeAll": False,
        "options": [],
    }


def _lay_out(rows: Iterable[PanelRow]) -> list[Json]:
    placed: list[Json] = []
    y = 0
    for row in rows:
        placed.append(
            {
                "id": len(placed) + 1,
                "type": "row",
                "title": row.title,
                "collapsed": False,
                "panels": [],
                "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
            }
        )
        y += 1
        x = tallest = 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y, tallest = 0, y + tallest, 0
            placed.append(_place(panel, number=len(placed) + 1, x=x, y=y))
            x, tallest = x + panel.width, max(tallest, panel.height)
        y += tallest
    return placed


def _place(panel: Panel, *, number: int, x: int, y: int) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": SOURCE,
                "expr": query.expression,
                "legendFormat": query.legend or "__auto",
                "editorMode": "code",
                "range": not panel.is_instant,
                "instant": panel.is_instant,
                "format": "table" if panel.is_instant else "time_series",
            }
            for index, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": {"unit": panel.unit, **panel.defaults}, "overrides": []},
        "options": dict(panel.options),
    }


def _thresholds(steps: Sequence[tuple[float | None, str]]) -> Json:
    return {
        "thresholds": {
            "mode": "absolute",
            "steps": [{"value": value, "color": color} for value, color in steps],
        }
    }


def _link_to_others() -> Json:
    return {
        "title": "Pressroom",
        "type": "dashboards",
        "tags": ["pressroom"],
        "asDropdown": True,
        "icon": "external link",
        "includeVars": False,
        "keepTime": True,
        "targetBlank": False,
        "tooltip": "",
        "url": "",
    }
