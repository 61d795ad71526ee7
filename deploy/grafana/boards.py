"""The four dashboards: overview, account usage, worker pools, and objectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from deploy.grafana.panels import (
    AMBER,
    GREEN,
    RED,
    Json,
    PanelRow,
    Query,
    make_dashboard,
    query_variable,
    stat_panel,
    table_panel,
    timeseries_panel,
)

_SECONDS: Final = "s"
_RATE: Final = "reqps"
_PART: Final = "percentunit"
_BYTES: Final = "bytes"
_UP: Final = {"1": ("up", GREEN), "0": ("down", RED)}


def _quantile(share: float, metric: str, by: str, *, where: str = "") -> str:
    return (
        f"histogram_quantile({share}, sum by ({by}, le) "
        f"(rate(pressroom_{metric}_bucket{where}[$__rate_interval])))"
    )


def _rate(metric: str, by: str, *, where: str = "") -> str:
    return f"sum by ({by}) (rate(pressroom_{metric}_total{where}[$__rate_interval]))"


OVERVIEW: Final = make_dashboard(
    "pressroom-overview",
    "overview",
    "The whole farm: requests, responses, queues and stores.",
    (
        PanelRow(
            "Now",
            (
                stat_panel(
                    "Requests",
                    Query(
                        'sum(rate(pressroom_http_requests_total{route=~"/v2/.*"}[$__rate_interval]))'
                    ),
                    unit=_RATE,
                ),
                stat_panel(
                    "Failed, last hour",
                    Query("farm:request_errors:ratio_rate1h"),
                    unit=_PART,
                    about="Share of requests under /v2 with a 5xx response.",
                    steps=((None, GREEN), (0.001, AMBER), (0.0144, RED)),
                ),
                stat_panel(
                    "Render, 99th",
                    Query('route:request_seconds:p99_5m{route="/v2/pdf"}'),
                    unit=_SECONDS,
                    steps=((None, GREEN), (2.5, AMBER), (10, RED)),
                ),
                stat_panel(
                    "Pages",
                    Query("farm:pages:rate5m"),
                    unit="short",
                    about="Metered pages per second.",
                ),
                stat_panel(
                    "Oldest waiting job",
                    Query(
                        "max(pressroom_queue_oldest_seconds{queue=~'interactive|preview|validate'})"
                    ),
                    unit=_SECONDS,
                    steps=((None, GREEN), (2, AMBER), (10, RED)),
                ),
                stat_panel(
                    "Slots busy",
                    Query('pool:worker_slots:busy_ratio{job="worker"}'),
                    unit=_PART,
                    steps=((None, GREEN), (0.7, AMBER), (0.9, RED)),
                ),
            ),
        ),
        PanelRow(
            "Requests",
            (
                timeseries_panel(
                    "Requests by status",
                    Query(_rate("http_requests", "status"), "{{status}}"),
                    unit=_RATE,
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Duration of renders, as clients see it",
                    Query(
                        _quantile(
                            0.5, "http_request_duration_seconds", "route", where='{route="/v2/pdf"}'
                        ),
                        "50 %",
                    ),
                    Query(
                        _quantile(
                            0.99,
                            "http_request_duration_seconds",
                            "route",
                            where='{route="/v2/pdf"}',
                        ),
                        "99 %",
                    ),
                    unit=_SECONDS,
                ),
                timeseries_panel(
                    "Requests by route",
                    Query(_rate("http_requests", "route, method"), "{{method}} {{route}}"),
                    unit=_RATE,
                ),
                timeseries_panel(
                    "Errors by kind",
                    Query(_rate("http_errors", "kind"), "{{kind}}"),
                    unit=_RATE,
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Requests refused by rate or quota",
                    Query(_rate("refusals", "reason"), "{{reason}}"),
                    unit=_RATE,
                ),
                timeseries_panel(
                    "Connections of the front",
                    Query("sum(pressroom_http_requests_in_progress)", "in use"),
                    Query("sum(pressroom_http_connections_max)", "limit"),
                    about="Each waiting render occupies one.",
                ),
            ),
        ),
        PanelRow(
            "Jobs",
            (
                timeseries_panel(
                    "Waiting",
                    Query("sum by (queue) (pressroom_queue_waiting)", "{{queue}}"),
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Running",
                    Query("sum by (queue) (pressroom_queue_running)", "{{queue}}"),
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Jobs with a waiting client",
                    Query("sum by (state) (pressroom_places)", "{{state}}"),
                    is_stacked=True,
                    about="Held: in the queue or running. Waiting: for a slot. Fetching: images.",
                ),
                timeseries_panel(
                    "Age of the oldest waiting job",
                    Query(
                        "max by (queue, shard) (pressroom_queue_oldest_seconds)",
                        "{{queue}} {{shard}}",
                    ),
                    unit=_SECONDS,
                ),
                timeseries_panel(
                    "Renders by outcome",
                    Query(_rate("renders", "outcome"), "{{outcome}}"),
                    Query(
                        "sum(rate(pressroom_renders_abandoned_total[$__rate_interval]))",
                        "abandoned",
                    ),
                    unit="ops",
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Pages by body type",
                    Query(_rate("pages", "kind, allowance"), "{{kind}} {{allowance}}"),
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Unfinished async renders, and pending webhooks",
                    Query("max(pressroom_jobs_unfinished)", "async renders"),
                    Query("max(pressroom_webhooks_pending)", "webhooks"),
                ),
                timeseries_panel(
                    "Remaining batch documents",
                    Query("batch:documents_left:sum", "{{shard}}"),
                    about="Including those that wait in the database: only a few slices are queued.",
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Age of the oldest unfinished batch",
                    Query("max by (shard) (pressroom_batch_oldest_seconds)", "{{shard}}"),
                    unit=_SECONDS,
                ),
                timeseries_panel(
                    "Unfinished batches",
                    Query("sum by (shard) (pressroom_batches_unfinished)", "{{shard}}"),
                    is_stacked=True,
                ),
            ),
        ),
        PanelRow(
            "Stores",
            (
                stat_panel(
                    "Stores",
                    Query("max by (part) (pressroom_part_up)", "{{part}}"),
                    texts=_UP,
                    width=8,
                ),
                stat_panel(
                    "Ledger lag",
                    Query("max(pressroom_usage_ledger_lag_seconds)"),
                    unit=_SECONDS,
                    steps=((None, GREEN), (60, AMBER), (300, RED)),
                ),
                stat_panel("Pending events", Query("max(pressroom_usage_events_pending)")),
                stat_panel(
                    "Malformed events",
                    Query("max(pressroom_usage_events_dead)"),
                    steps=((None, GREEN), (1, RED)),
                ),
                stat_panel("Image bytes", Query("max(pressroom_blob_bytes)"), unit=_BYTES),
                timeseries_panel(
                    "Duration of operations (95 %)",
                    Query(
                        _quantile(0.95, "store_duration_seconds", "store, operation"),
                        "{{store}} {{operation}}",
                    ),
                    unit=_SECONDS,
                ),
                timeseries_panel(
                    "Operations failed by an outage",
                    Query(
                        "sum(rate(pressroom_store_failures_total[$__rate_interval])) or vector(0)",
                        "failures",
                    ),
                    unit="ops",
                ),
                timeseries_panel(
                    "Cache hits",
                    Query("cache:hits:ratio_rate5m", "{{cache}}"),
                    unit=_PART,
                ),
            ),
        ),
        PanelRow(
            "Fetcher",
            (
                timeseries_panel(
                    "Outbound requests by outcome",
                    Query(_rate("fetches", "outcome"), "{{outcome}}"),
                    unit="ops",
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Duration of outbound requests",
                    Query(
                        "histogram_quantile(0.5, sum by (le) "
                        "(rate(pressroom_fetch_duration_seconds_bucket[$__rate_interval])))",
                        "50 %",
                    ),
                    Query(
                        "histogram_quantile(0.95, sum by (le) "
                        "(rate(pressroom_fetch_duration_seconds_bucket[$__rate_interval])))",
                        "95 %",
                    ),
                    unit=_SECONDS,
                ),
                timeseries_panel(
                    "Fetch requests by cache result",
                    Query(_rate("fetcher_cache_requests", "result"), "{{result}}"),
                    unit="ops",
                    is_stacked=True,
                ),
                timeseries_panel(
                    "Outbound requests in progress, and waiting requests",
                    Query("sum(pressroom_fetches_in_progress)", "in progress"),
                    Query("sum(pressroom_fetches_waiting)", "waiting"),
                ),
                timeseries_panel(
                    "Cache size",
                    Query("sum(pressroom_fetcher_cache_bytes)", "bytes"),
                    unit=_BYTES,
                ),
            ),
        ),
        PanelRow(
            "Signer",
            (
                timeseries_panel(
                    "Signatures by outcome",
                    Query(_rate("signatures", "outcome"), "{{outcome}}"),
                    unit="ops",
                    is_stacked=True,
                    about="Only farms that sign files have them.",
                ),
                timeseries_panel(
                    "Duration of signatures",
                    Query(
                        "histogram_quantile(0.95, sum by (le) "
                        "(rate(pressroom_signature_duration_seconds_bucket[$__rate_interval])))",
                        "95 %",
                    ),
                    unit=_SECONDS,
                ),
            ),
        ),
        PanelRow(
            "Processes",
            (
                stat_panel(
                    "Processes up",
                    Query(
                        "sum by (job) (up{job=~'front|worker|batch|counter|maintenance|webhooks|fetcher|signer'})",
                        "{{job}}",
                    ),
                    width=12,
                ),
                table_panel(
                    "Versions",
                    Query("count by (part, version) (pressroom_build_info)"),
                    about="Several versions of a process during an upgrade.",
                ),
            ),
        ),
    ),
)

_OF_ACCOUNT: Final = '{account="$account"}'

ACCOUNT: Final = make_dashboard(
    "pressroom-account",
    "account",
    "The usage of one of the accounts with the most pages; PRESSROOM_ACCOUNT_METRICS sets their number.",
    (
        PanelRow(
            "This billing period",
            (
                stat_panel(
                    "Pages",
                    Query(f"sum(max by (allowance) (pressroom_account_pages{_OF_ACCOUNT}))"),
                ),
                stat_panel(
                    "Renders",
                    Query(f"sum(max by (allowance) (pressroom_account_renders{_OF_ACCOUNT}))"),
                ),
                stat_panel(
                    "Pages per render",
                    Query(
                        f"sum(max by (allowance) (pressroom_account_pages{_OF_ACCOUNT}))"
                        f" / sum(max by (allowance) (pressroom_account_renders{_OF_ACCOUNT}))"
                    ),
                ),
                stat_panel(
                    "Share of its allowance",
                    Query(
                        f"max by (allowance) (pressroom_account_pages{_OF_ACCOUNT})"
                        f" / max by (allowance) (pressroom_account_pages_allowed{_OF_ACCOUNT} > 0)",
                        "{{allowance}}",
                    ),
                    unit=_PART,
                    steps=((None, GREEN), (0.8, AMBER), (1, RED)),
                    about="Empty for accounts without a limit.",
                    width=6,
                ),
                stat_panel(
                    "Share of the pages listed here",
                    Query(
                        f"sum(max by (allowance) (pressroom_account_pages{_OF_ACCOUNT}))"
                        " / sum(max by (account, allowance) (pressroom_account_pages))"
                    ),
                    unit=_PART,
                    width=6,
                ),
            ),
        ),
        PanelRow(
            "Over time",
            (
                timeseries_panel(
                    "Pages in the billing period",
                    Query(
                        f"max by (allowance) (pressroom_account_pages{_OF_ACCOUNT})",
                        "{{allowance}}",
                    ),
                    width=12,
                ),
                timeseries_panel(
                    "Pages per hour",
                    Query(
                        f"sum by (allowance) (increase(pressroom_account_pages{_OF_ACCOUNT}[1h]))",
                        "{{allowance}}",
                    ),
                    width=12,
                ),
            ),
        ),
        PanelRow(
            "All accounts",
            (
                table_panel(
                    "Pages in the billing period",
                    Query("sort_desc(max by (account, allowance) (pressroom_account_pages))"),
                ),
                table_panel(
                    "Renders in the billing period",
                    Query("sort_desc(max by (account, allowance) (pressroom_account_renders))"),
                ),
            ),
        ),
    ),
    since="now-7d",
    variables=(
        query_variable("account", "Account", "label_values(pressroom_account_pages, account)"),
    ),
)

POOL: Final = make_dashboard(
    "pressroom-pool",
    "worker pool",
    "The workers: utilisation, duration of render stages, and child processes.",
    (
        PanelRow(
            "Slots",
            (
                timeseries_panel(
                    "Slots",
                    Query("pool:worker_slots:sum", "{{job}}: total"),
                    Query("sum by (job) (pressroom_worker_slots_busy)", "{{job}}: busy"),
                ),
                timeseries_panel(
                    "Busy", Query("pool:worker_slots:busy_ratio", "{{job}}"), unit=_PART
                ),
                timeseries_panel(
                    "Jobs waiting or running",
                    Query("queue:jobs:sum", "{{queue}}"),
                    about="The value that the pools are scaled by.",
                ),
                timeseries_panel(
                    "Remaining batch documents per slot",
                    Query(
                        'sum(batch:documents_left:sum) / (sum(pool:worker_slots:sum{job="batch"}) > 0)',
                        "documents",
                    ),
                    about="The batch pool is also scaled by this value: one slot for every 500 documents.",
                ),
            ),
        ),
        PanelRow(
            "Duration of renders",
            (
                timeseries_panel(
                    "Stages, 50 %",
                    Query(_quantile(0.5, "render_stage_seconds", "stage"), "{{stage}}"),
                    unit=_SECONDS,
                    width=12,
                ),
                timeseries_panel(
                    "Stages, 99 %",
                    Query(_quantile(0.99, "render_stage_seconds", "stage"), "{{stage}}"),
                    unit=_SECONDS,
                    width=12,
                ),
                timeseries_panel(
                    "Work per page",
                    Query(
                        'sum(rate(pressroom_render_stage_seconds_sum{stage!="queue"}[$__rate_interval]))'
                        " / (sum(rate(pressroom_pages_total[$__rate_interval])) > 0)",
                        "per page",
                    ),
                    unit=_SECONDS,
                    about="CAPACITY.md has the expected value.",
                    width=12,
                ),
                timeseries_panel(
                    "Renders by outcome",
                    Query(_rate("renders", "kind, outcome"), "{{kind}} {{outcome}}"),
                    unit="ops",
                    width=12,
                ),
            ),
        ),
        PanelRow(
            "Child processes",
            (
                timeseries_panel(
                    "Memory by process",
                    Query("pressroom_worker_child_memory_bytes", "{{instance}} {{slot}}"),
                    Query("max(pressroom_worker_child_memory_limit_bytes)", "limit"),
                    unit=_BYTES,
                ),
                timeseries_panel(
                    "Started and ended",
                    Query("sum(increase(pressroom_worker_child_starts_total[15m]))", "started"),
                    Query(
                        "sum by (reason) (increase(pressroom_worker_child_exits_total[15m]))",
                        "{{reason}}",
                    ),
                    about="In the last 15 minutes.",
                ),
                timeseries_panel(
                    "Memory of the main processes",
                    Query("pressroom_worker_memory_bytes", "{{instance}}"),
                    unit=_BYTES,
                ),
                table_panel(
                    "Workers",
                    Query("sum by (job, instance) (pressroom_worker_slots_busy)"),
                    about="Busy slots by worker.",
                ),
                table_panel("Up", Query("max by (job, instance) (pressroom_worker_up)")),
            ),
        ),
    ),
)


def _budget_left(objective: str, ratio: str) -> str:
    return f"1 - avg_over_time({ratio}[$__range]) / {objective}"


OBJECTIVES: Final = make_dashboard(
    "pressroom-objectives",
    "objectives",
    "Over 30 days: 99.9 % of requests without a 5xx response; 99 % of renders within 2.5 s.",
    (
        PanelRow(
            "Error budgets",
            (
                stat_panel(
                    "Errors: budget left in the range shown",
                    Query(_budget_left("0.001", "farm:request_errors:ratio_rate5m")),
                    unit=_PART,
                    steps=((None, RED), (0, AMBER), (0.25, GREEN)),
                    width=6,
                ),
                stat_panel(
                    "Slow renders: budget left in the range shown",
                    Query(_budget_left("0.01", "farm:slow_renders:ratio_rate5m")),
                    unit=_PART,
                    steps=((None, RED), (0, AMBER), (0.25, GREEN)),
                    width=6,
                ),
                stat_panel(
                    "Requests in the range shown",
                    Query(
                        'sum(increase(pressroom_http_requests_total{route=~"/v2/.*"}[$__range]))'
                    ),
                    width=6,
                ),
                stat_panel(
                    "Alerts firing",
                    Query(
                        'count(ALERTS{alertstate="firing",alertname=~"Pressroom.*"}) or vector(0)'
                    ),
                    steps=((None, GREEN), (1, RED)),
                    width=6,
                ),
            ),
        ),
        PanelRow(
            "Burn rate (1 exhausts the budget in 30 days)",
            (
                timeseries_panel(
                    "Errors",
                    *(
                        Query(f"farm:request_errors:ratio_rate{window} / 0.001", window)
                        for window in ("5m", "1h", "6h", "3d")
                    ),
                    width=12,
                ),
                timeseries_panel(
                    "Slow renders",
                    *(
                        Query(f"farm:slow_renders:ratio_rate{window} / 0.01", window)
                        for window in ("5m", "1h", "6h", "3d")
                    ),
                    width=12,
                ),
            ),
        ),
        PanelRow(
            "Details",
            (
                timeseries_panel(
                    "Failed requests by route and status",
                    Query(
                        'sum by (route, status) (rate(pressroom_http_requests_total{status=~"5.."}'
                        "[$__rate_interval])) or vector(0)",
                        "{{route}} {{status}}",
                    ),
                    unit=_RATE,
                    width=12,
                ),
                timeseries_panel(
                    "99 % by route",
                    Query("route:request_seconds:p99_5m", "{{route}}"),
                    unit=_SECONDS,
                    width=12,
                ),
            ),
        ),
    ),
    since="now-30d",
)

BOARDS: Final[Mapping[str, Json]] = {
    "overview": OVERVIEW,
    "account": ACCOUNT,
    "pool": POOL,
    "objectives": OBJECTIVES,
}
