"""The four dashboards: the farm at a glance, one account's use, the workers, the objectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from deploy.grafana.panels import (
    AMBER,
    GREEN,
    RED,
    Json,
    Query,
    Row,
    board,
    graph,
    number,
    table,
    variable,
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


OVERVIEW: Final = board(
    "pressroom-overview",
    "overview",
    "The whole farm: what is asked of it, how it answers, what waits, and how its stores are.",
    (
        Row(
            "Now",
            (
                number(
                    "Requests",
                    Query(
                        'sum(rate(pressroom_http_requests_total{route=~"/v2/.*"}[$__rate_interval]))'
                    ),
                    unit=_RATE,
                ),
                number(
                    "Failed, last hour",
                    Query("farm:request_errors:ratio_rate1h"),
                    unit=_PART,
                    about="Share of requests under /v2 that ended in 5xx.",
                    steps=((None, GREEN), (0.001, AMBER), (0.0144, RED)),
                ),
                number(
                    "Render, 99th",
                    Query('route:request_seconds:p99_5m{route="/v2/pdf"}'),
                    unit=_SECONDS,
                    steps=((None, GREEN), (2.5, AMBER), (10, RED)),
                ),
                number(
                    "Pages",
                    Query("farm:pages:rate5m"),
                    unit="short",
                    about="Metered pages a second.",
                ),
                number(
                    "Oldest waiting job",
                    Query("max(pressroom_queue_oldest_seconds{queue=~'interactive|validate'})"),
                    unit=_SECONDS,
                    steps=((None, GREEN), (2, AMBER), (10, RED)),
                ),
                number(
                    "Slots busy",
                    Query('pool:worker_slots:busy_ratio{job="worker"}'),
                    unit=_PART,
                    steps=((None, GREEN), (0.7, AMBER), (0.9, RED)),
                ),
            ),
        ),
        Row(
            "Requests",
            (
                graph(
                    "Requests by status",
                    Query(_rate("http_requests", "status"), "{{status}}"),
                    unit=_RATE,
                    is_stacked=True,
                ),
                graph(
                    "Time of a render, as its client sees it",
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
                graph(
                    "Requests by route",
                    Query(_rate("http_requests", "route, method"), "{{method}} {{route}}"),
                    unit=_RATE,
                ),
                graph(
                    "Errors by kind",
                    Query(_rate("http_errors", "kind"), "{{kind}}"),
                    unit=_RATE,
                    is_stacked=True,
                ),
                graph(
                    "Refused for rate or quota",
                    Query(_rate("refusals", "reason"), "{{reason}}"),
                    unit=_RATE,
                ),
                graph(
                    "Threads of the front",
                    Query("sum(pressroom_http_requests_in_progress)", "in use"),
                    Query("sum(pressroom_http_connections_max)", "there are"),
                    about="Each waiting render holds one.",
                ),
            ),
        ),
        Row(
            "Jobs",
            (
                graph(
                    "Waiting",
                    Query("sum by (queue) (pressroom_queue_waiting)", "{{queue}}"),
                    is_stacked=True,
                ),
                graph(
                    "Running",
                    Query("sum by (queue) (pressroom_queue_running)", "{{queue}}"),
                    is_stacked=True,
                ),
                graph(
                    "Age of the oldest waiting job",
                    Query(
                        "max by (queue, shard) (pressroom_queue_oldest_seconds)",
                        "{{queue}} {{shard}}",
                    ),
                    unit=_SECONDS,
                ),
                graph(
                    "Renders by outcome",
                    Query(_rate("renders", "outcome"), "{{outcome}}"),
                    Query(
                        "sum(rate(pressroom_renders_abandoned_total[$__rate_interval]))",
                        "abandoned",
                    ),
                    unit="ops",
                    is_stacked=True,
                ),
                graph(
                    "Pages by kind of body",
                    Query(_rate("pages", "kind, allowance"), "{{kind}} {{allowance}}"),
                    is_stacked=True,
                ),
                graph(
                    "Unfinished async renders, and webhooks that wait",
                    Query("max(pressroom_jobs_unfinished)", "async renders"),
                    Query("max(pressroom_webhooks_pending)", "webhooks"),
                ),
                graph(
                    "Documents of batches left",
                    Query("batch:documents_left:sum", "{{shard}}"),
                    about="Those that wait in the database too: few slices stand in the queue.",
                    is_stacked=True,
                ),
                graph(
                    "Age of the oldest unfinished batch",
                    Query("max by (shard) (pressroom_batch_oldest_seconds)", "{{shard}}"),
                    unit=_SECONDS,
                ),
                graph(
                    "Unfinished batches",
                    Query("sum by (shard) (pressroom_batches_unfinished)", "{{shard}}"),
                    is_stacked=True,
                ),
            ),
        ),
        Row(
            "Stores",
            (
                number(
                    "Parts",
                    Query("max by (part) (pressroom_part_up)", "{{part}}"),
                    texts=_UP,
                    width=8,
                ),
                number(
                    "Ledger lag",
                    Query("max(pressroom_usage_ledger_lag_seconds)"),
                    unit=_SECONDS,
                    steps=((None, GREEN), (60, AMBER), (300, RED)),
                ),
                number("Events on their way", Query("max(pressroom_usage_events_pending)")),
                number(
                    "Events nobody could read",
                    Query("max(pressroom_usage_events_dead)"),
                    steps=((None, GREEN), (1, RED)),
                ),
                number("Image bytes", Query("max(pressroom_blob_bytes)"), unit=_BYTES),
                graph(
                    "Time of an operation (95 %)",
                    Query(
                        _quantile(0.95, "store_duration_seconds", "store, operation"),
                        "{{store}} {{operation}}",
                    ),
                    unit=_SECONDS,
                ),
                graph(
                    "Operations that found their store away",
                    Query(
                        "sum(rate(pressroom_store_failures_total[$__rate_interval])) or vector(0)",
                        "failures",
                    ),
                    unit="ops",
                ),
                graph(
                    "Cache hits",
                    Query("cache:hits:ratio_rate5m", "{{cache}}"),
                    unit=_PART,
                ),
            ),
        ),
        Row(
            "Images at addresses",
            (
                graph(
                    "Ways out by what became of them",
                    Query(_rate("fetches", "outcome"), "{{outcome}}"),
                    unit="ops",
                    is_stacked=True,
                ),
                graph(
                    "Time of a way out",
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
                graph(
                    "Asks by where they were answered from",
                    Query(_rate("fetcher_cache_requests", "result"), "{{result}}"),
                    unit="ops",
                    is_stacked=True,
                ),
                graph(
                    "Ways out under way, and asks that wait",
                    Query("sum(pressroom_fetches_in_progress)", "under way"),
                    Query("sum(pressroom_fetches_waiting)", "waiting"),
                ),
                graph(
                    "Bytes kept",
                    Query("sum(pressroom_fetcher_cache_bytes)", "bytes"),
                    unit=_BYTES,
                ),
            ),
        ),
        Row(
            "Processes",
            (
                number(
                    "Answering their scrape",
                    Query(
                        "sum by (job) (up{job=~'front|worker|batch|counter|keeper|hooks|fetcher'})",
                        "{{job}}",
                    ),
                    width=12,
                ),
                table(
                    "Versions",
                    Query("count by (part, version) (pressroom_build_info)"),
                    about="More than one of a part while an upgrade is under way.",
                ),
            ),
        ),
    ),
)

_OF_ACCOUNT: Final = '{account="$account"}'

ACCOUNT: Final = board(
    "pressroom-account",
    "one account",
    "What one account uses. Those with the most pages can be chosen: as many as"
    " PRESSROOM_ACCOUNT_METRICS says.",
    (
        Row(
            "This billing period",
            (
                number(
                    "Pages",
                    Query(f"sum(max by (allowance) (pressroom_account_pages{_OF_ACCOUNT}))"),
                ),
                number(
                    "Renders",
                    Query(f"sum(max by (allowance) (pressroom_account_renders{_OF_ACCOUNT}))"),
                ),
                number(
                    "Pages a render",
                    Query(
                        f"sum(max by (allowance) (pressroom_account_pages{_OF_ACCOUNT}))"
                        f" / sum(max by (allowance) (pressroom_account_renders{_OF_ACCOUNT}))"
                    ),
                ),
                number(
                    "Share of its allowance",
                    Query(
                        f"max by (allowance) (pressroom_account_pages{_OF_ACCOUNT})"
                        f" / max by (allowance) (pressroom_account_pages_allowed{_OF_ACCOUNT} > 0)",
                        "{{allowance}}",
                    ),
                    unit=_PART,
                    steps=((None, GREEN), (0.8, AMBER), (1, RED)),
                    about="Nothing for accounts that are never refused.",
                    width=6,
                ),
                number(
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
        Row(
            "Over time",
            (
                graph(
                    "Pages in the period",
                    Query(
                        f"max by (allowance) (pressroom_account_pages{_OF_ACCOUNT})",
                        "{{allowance}}",
                    ),
                    width=12,
                ),
                graph(
                    "Pages an hour",
                    Query(
                        f"sum by (allowance) (increase(pressroom_account_pages{_OF_ACCOUNT}[1h]))",
                        "{{allowance}}",
                    ),
                    width=12,
                ),
            ),
        ),
        Row(
            "Everybody",
            (
                table(
                    "Pages in the billing period",
                    Query("sort_desc(max by (account, allowance) (pressroom_account_pages))"),
                ),
                table(
                    "Renders in the billing period",
                    Query("sort_desc(max by (account, allowance) (pressroom_account_renders))"),
                ),
            ),
        ),
    ),
    since="now-7d",
    variables=(variable("account", "Account", "label_values(pressroom_account_pages, account)"),),
)

POOL: Final = board(
    "pressroom-pool",
    "worker pool",
    "The workers: how busy they are, where a render's time goes, and how their processes fare.",
    (
        Row(
            "Slots",
            (
                graph(
                    "Slots",
                    Query("pool:worker_slots:sum", "{{job}}: there are"),
                    Query("sum by (job) (pressroom_worker_slots_busy)", "{{job}}: busy"),
                ),
                graph("Busy", Query("pool:worker_slots:busy_ratio", "{{job}}"), unit=_PART),
                graph(
                    "Jobs waiting or running",
                    Query("queue:jobs:sum", "{{queue}}"),
                    about="What the pools are scaled by.",
                ),
                graph(
                    "Documents of batches left, for each slot",
                    Query(
                        'sum(batch:documents_left:sum) / (sum(pool:worker_slots:sum{job="batch"}) > 0)',
                        "documents",
                    ),
                    about="What the pool for batches is scaled by besides: 500 ask for another slot.",
                ),
            ),
        ),
        Row(
            "A render's time",
            (
                graph(
                    "Stages, 50 %",
                    Query(_quantile(0.5, "render_stage_seconds", "stage"), "{{stage}}"),
                    unit=_SECONDS,
                    width=12,
                ),
                graph(
                    "Stages, 99 %",
                    Query(_quantile(0.99, "render_stage_seconds", "stage"), "{{stage}}"),
                    unit=_SECONDS,
                    width=12,
                ),
                graph(
                    "Seconds of work a page",
                    Query(
                        'sum(rate(pressroom_render_stage_seconds_sum{stage!="queue"}[$__rate_interval]))'
                        " / (sum(rate(pressroom_pages_total[$__rate_interval])) > 0)",
                        "a page",
                    ),
                    unit=_SECONDS,
                    about="What a page costs now; CAPACITY.md has what it should.",
                    width=12,
                ),
                graph(
                    "Renders by outcome",
                    Query(_rate("renders", "kind, outcome"), "{{kind}} {{outcome}}"),
                    unit="ops",
                    width=12,
                ),
            ),
        ),
        Row(
            "Rendering processes",
            (
                graph(
                    "Memory of each",
                    Query("pressroom_worker_child_memory_bytes", "{{instance}} {{slot}}"),
                    Query("max(pressroom_worker_child_memory_limit_bytes)", "limit"),
                    unit=_BYTES,
                ),
                graph(
                    "Started and ended",
                    Query("sum(increase(pressroom_worker_child_starts_total[15m]))", "started"),
                    Query(
                        "sum by (reason) (increase(pressroom_worker_child_exits_total[15m]))",
                        "{{reason}}",
                    ),
                    about="In the quarter of an hour before.",
                ),
                graph(
                    "Memory of the main processes",
                    Query("pressroom_worker_memory_bytes", "{{instance}}"),
                    unit=_BYTES,
                ),
                table(
                    "Workers",
                    Query("sum by (job, instance) (pressroom_worker_slots_busy)"),
                    about="Busy slots of each.",
                ),
                table("Up", Query("max by (job, instance) (pressroom_worker_up)")),
            ),
        ),
    ),
)


def _budget_left(objective: str, ratio: str) -> str:
    return f"1 - avg_over_time({ratio}[$__range]) / {objective}"


OBJECTIVES: Final = board(
    "pressroom-objectives",
    "objectives",
    "99.9 % of requests do not end in 5xx; 99 % of renders are answered within 2.5 s; over 30 days.",
    (
        Row(
            "Budget",
            (
                number(
                    "Errors: budget left in the range shown",
                    Query(_budget_left("0.001", "farm:request_errors:ratio_rate5m")),
                    unit=_PART,
                    steps=((None, RED), (0, AMBER), (0.25, GREEN)),
                    width=6,
                ),
                number(
                    "Slow renders: budget left in the range shown",
                    Query(_budget_left("0.01", "farm:slow_renders:ratio_rate5m")),
                    unit=_PART,
                    steps=((None, RED), (0, AMBER), (0.25, GREEN)),
                    width=6,
                ),
                number(
                    "Requests in the range shown",
                    Query(
                        'sum(increase(pressroom_http_requests_total{route=~"/v2/.*"}[$__range]))'
                    ),
                    width=6,
                ),
                number(
                    "Alerts firing",
                    Query(
                        'count(ALERTS{alertstate="firing",alertname=~"Pressroom.*"}) or vector(0)'
                    ),
                    steps=((None, GREEN), (1, RED)),
                    width=6,
                ),
            ),
        ),
        Row(
            "Burn: 1 spends the budget in 30 days",
            (
                graph(
                    "Errors",
                    *(
                        Query(f"farm:request_errors:ratio_rate{window} / 0.001", window)
                        for window in ("5m", "1h", "6h", "3d")
                    ),
                    width=12,
                ),
                graph(
                    "Slow renders",
                    *(
                        Query(f"farm:slow_renders:ratio_rate{window} / 0.01", window)
                        for window in ("5m", "1h", "6h", "3d")
                    ),
                    width=12,
                ),
            ),
        ),
        Row(
            "Where it goes",
            (
                graph(
                    "Failed requests by route and status",
                    Query(
                        'sum by (route, status) (rate(pressroom_http_requests_total{status=~"5.."}'
                        "[$__rate_interval])) or vector(0)",
                        "{{route}} {{status}}",
                    ),
                    unit=_RATE,
                    width=12,
                ),
                graph(
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
