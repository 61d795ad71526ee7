"""Two scrapes with a known load between them differ by exactly that load, over all processes."""

import http.client
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from tests.waiting import wait_until

HELLO = "<document><flow><p>Hello</p></flow></document>"
TWO_PAGES = "<document><flow><p>Hello</p><p break-before='page'>again</p></flow></document>"
LOAD = 60


def read_metrics(farm, part):
    connection = http.client.HTTPConnection("127.0.0.1", farm.record.ports[part], timeout=60)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def families(farm, part):
    return {family.name for family in text_string_to_metric_families(read_metrics(farm, part))}


def scrape(farm, part):
    text = read_metrics(farm, part)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def scrapes(farm):
    def read():
        # Some series are of several: the front's own reads of a store, and those of the workers.
        sums = Counter()
        for part in ("front", "counter_metrics", "worker_metrics", "batch_metrics"):
            sums.update(scrape(farm, part))
        return sums

    return read


def grown(before, after, name, **labels):
    """Add up by how much the series of a name with these labels grew."""
    return sum(
        value - before.get(series, 0)
        for series, value in after.items()
        if series[0] == name and set(labels.items()) <= set(series[1])
    )


def at_rest(scrapes):
    """Scrape once nothing is on its way: the counter follows the answers, of other tests too."""
    wait_until(lambda: not scrapes()["pressroom_usage_events_pending", ()], pause=0.1)
    # A scrape reads its sums before it reads what is pending, so only the next one has them all.
    return scrapes()


def test_every_declared_metric_is_exported_and_no_other(farm):
    parts = ["front", *(part for part in farm.record.ports if part.endswith("_metrics"))]
    # Series of several processes exist from their first value on; this farm has no signer.
    absent = [spec for spec in metrics.ALL if spec.exporter == Exporter.SIGNER]
    for exporter in (Exporter.FRONT, Exporter.WORKER):
        absent += metrics.counted_by(exporter)
    declared = {spec.full_name for spec in metrics.ALL}

    def is_declared():
        try:
            exported = {family for part in parts for family in families(farm, part)}
        except ConnectionRefusedError:  # a process is still starting
            return False
        return exported | {spec.full_name for spec in absent} == declared

    wait_until(is_declared)


def test_a_known_load_is_counted_exactly_over_all_processes(account, scrapes):
    before = at_rest(scrapes)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: account.render(TWO_PAGES), range(LOAD)))
        broken = list(pool.map(lambda _: account.render("<document><p/></document>"), range(10)))
    validated = account.request(
        "POST", "/v2/validate", HELLO.encode(), headers={"Content-Type": "text/xml"}
    )
    assert {answer.status for answer in answers} == {200}
    assert {answer.status for answer in broken} == {400}
    assert validated.status == 200
    after = at_rest(scrapes)

    def count(name, **labels):
        return grown(before, after, f"pressroom_{name}", **labels)

    render = {"route": "/v2/pdf", "method": "POST"}
    assert count("http_requests_total", **render, status="200") == LOAD
    assert count("http_requests_total", **render, status="400") == 10
    assert count("http_request_duration_seconds_count", **render, status_class="2xx") == LOAD
    assert count("http_errors_total", kind="authoring") == 10
    assert count("renders_total") == LOAD + 10
    assert count("renders_total", kind="xml", allowance="production", outcome="succeeded") == LOAD
    assert count("renders_total", outcome="authoring") == 10
    assert count("validations_total", kind="xml", outcome="succeeded") == 1
    assert count("pages_total", kind="xml", allowance="production") == 2 * LOAD
    for stage in ("queue", "merge", "layout", "finish"):
        assert count("render_stage_seconds_count", stage=stage) == LOAD
    assert count("usage_events_total", result="new") == LOAD
    assert count("cache_requests_total", cache="keys", result="hit") >= LOAD
    assert after["pressroom_queue_waiting", (("queue", "interactive"), ("shard", "0"))] == 0
    await_idle(scrapes)


def await_idle(scrapes):
    """Wait until no task is held: workers report once a second what they hold."""
    running = "pressroom_queue_running", (("queue", "interactive"), ("shard", "0"))
    wait_until(lambda: not scrapes()[running], pause=0.2)


def test_rejected_requests_are_counted_by_reason(farm, make_account, scrapes):
    account = make_account(farm, max_pages=1, max_draft_pages=1)
    before = scrapes()
    statuses = [account.render(HELLO).status for _ in range(3)]
    statuses += [account.render(HELLO, query="?draft=true").status for _ in range(2)]
    assert statuses == [200, 402, 402, 200, 402]
    after = scrapes()
    assert grown(before, after, "pressroom_refusals_total", reason="pages") == 2
    assert grown(before, after, "pressroom_refusals_total", reason="draft_pages") == 1


def test_the_worker_and_the_parts_show_how_they_are(farm, account, scrapes):
    assert account.render(HELLO).status == 200
    # The answer is sent a moment before the worker has put its message away.
    wait_until(lambda: not scrape(farm, "worker_metrics")["pressroom_worker_slots_busy", ()])
    worker = scrape(farm, "worker_metrics")
    assert worker["pressroom_worker_slots", ()] == 2
    assert worker["pressroom_worker_child_memory_bytes", (("slot", "0"),)] > 10_000_000
    counter = scrape(farm, "counter_metrics")
    assert {
        dict(labels)["part"]: value
        for (name, labels), value in counter.items()
        if name == "pressroom_part_up"
    } == {"queue": 1, "database": 1, "object_store": 1}
