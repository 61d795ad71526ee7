"""One trace from the request through the queue and the stages to the commit, by OTLP; none unless asked."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from deploy.embedded.demo.show import launched_farm
from tests.servers import Server
from tests.system.conftest import open_account
from tests.system.leaks import SECRET
from tests.waiting import wait_until

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
HELLO = f"<document><flow><p>{SECRET}</p></flow></document>"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"


class Receiver:
    """Takes what an OTLP collector takes, over HTTP."""

    def __init__(self):
        self.spans = []
        self.raw = b""
        self.server = Server(self.take)

    def take(self, connection, request):
        head, _, body = request.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/traces ")
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            facts = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [(facts["service.name"], span) for span in scope.spans]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def trace(self, trace_id, *, until):
        """Wait until a trace has a span of each name and return it, by name."""
        deadline = time.monotonic() + 120
        while True:
            found = {
                span.name: (part, span)
                for part, span in list(self.spans)
                if span.trace_id.hex() == trace_id
            }
            if until <= set(found) or time.monotonic() > deadline:
                return found
            time.sleep(0.05)


@pytest.fixture(scope="module")
def receiver():
    receiver = Receiver()
    with receiver.server:
        yield receiver


@pytest.fixture(scope="module")
def traced(tmp_path_factory, receiver):
    environment = {
        "PRESSROOM_TRACES": "true",
        "PRESSROOM_CHILD_MAX_JOBS": "2",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver.server.port}",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield open_account(farm, plan="paid")


EXPECTED = {"POST /v2/pdf", "render", "queue", "merge", "layout", "finish", "store", "commit"}


def test_a_render_is_one_trace_of_front_and_worker_in_the_callers_own(traced, receiver):
    headers = {"Content-Type": "text/xml", "traceparent": f"00-{TRACE}-{CALLER}-01"}
    answer = traced.request("POST", "/v2/pdf", HELLO.encode(), headers=headers)
    assert answer.status == 200
    spans = receiver.trace(TRACE, until=EXPECTED)
    assert set(spans) == EXPECTED
    parents = {name: span.parent_span_id.hex() for name, (_, span) in spans.items()}
    ids = {name: span.span_id.hex() for name, (_, span) in spans.items()}
    assert parents["POST /v2/pdf"] == CALLER
    assert parents["render"] == ids["POST /v2/pdf"]
    for name in ("queue", "merge", "layout", "finish", "store", "commit"):
        assert parents[name] == ids["render"]
        assert spans[name][0] == "pressroom-worker"
    assert spans["POST /v2/pdf"][0] == "pressroom-front"
    job = answer.headers["X-Job-Id"]
    for name in ("POST /v2/pdf", "render"):
        facts = {each.key: each.value.string_value for each in spans[name][1].attributes}
        assert facts["pressroom.job"] == job


def test_requests_without_a_trace_get_one_each(traced, receiver):
    for _ in range(6):  # past the number of jobs of a child: what it wrote is sent before it ends
        assert traced.render(HELLO).status == 200

    def whole():
        names = {}
        for _, span in list(receiver.spans):
            names.setdefault(span.trace_id.hex(), set()).add(span.name)
        return [trace for trace, found in names.items() if trace != TRACE and found >= EXPECTED]

    wait_until(lambda: len(whole()) >= 6, pause=0.1)
    assert len(whole()) == 6


def test_an_asynchronous_job_is_in_the_trace_of_its_request(traced, receiver):
    trace = "a" * 32
    headers = {
        "Content-Type": "text/xml",
        "Prefer": "respond-async",
        "traceparent": f"00-{trace}-{CALLER}-01",
    }
    assert traced.request("POST", "/v2/pdf", HELLO.encode(), headers=headers).status == 202
    assert set(receiver.trace(trace, until=EXPECTED)) >= EXPECTED


def test_a_batch_is_in_the_trace_of_its_request_slice_by_slice(traced, receiver):
    template = traced.store_template(
        b'<document><data><json>{"n": 0}</json><field name="n" type="integer"/></data>'
        b"<flow><p>{{ n }}</p></flow></document>"
    )
    body = b"".join(b'{"n": %b}\n' % (b'"x"' if n in (3, 58) else b"%d" % n) for n in range(60))
    trace = "b" * 32
    headers = {"Content-Type": "application/x-ndjson", "traceparent": f"00-{trace}-{CALLER}-01"}
    path = f"/v2/batches?template={template}&output=merged"
    assert traced.request("POST", path, body, headers=headers).status == 202
    receiver.trace(trace, until={"POST /v2/batches", "slice", "document", "store", "commit"})
    spans = [span for _, span in list(receiver.spans) if span.trace_id.hex() == trace]
    ids = {span.span_id: span.name for span in spans}
    documents = {}
    for span in spans:
        if span.name == "slice":
            assert ids[span.parent_span_id] == "POST /v2/batches"
        if span.name == "document":
            assert ids[span.parent_span_id] == "slice"
            facts = {each.key: each.value for each in span.attributes}
            index = facts["pressroom.index"].int_value
            documents[index] = facts["pressroom.outcome"].string_value
    # The first twenty of the one slice, and behind them those that failed.
    assert set(documents) == {*range(20), 58}
    assert (documents[3], documents[58], documents[4]) == ("authoring", "authoring", "succeeded")


def test_no_text_and_no_key_is_in_a_trace(traced, receiver):
    assert traced.render(HELLO).status == 200
    wait_until(lambda: receiver.raw)
    assert SECRET.encode() not in receiver.raw
    assert traced.api_key.encode() not in receiver.raw


def test_a_farm_without_tracing_loads_no_tracing_library():
    # redis-py loads the interface where it finds it; what costs something is what fills it.
    heavy = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "shared.telemetry.otel")
    code = "import sys, api.wiring, workers.farm.main, workers.counter.main\n"
    code += f"assert not [name for name in sys.modules if name.startswith({heavy})]"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
