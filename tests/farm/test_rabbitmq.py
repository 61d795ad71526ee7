"""RabbitMQ as the broker: workers, children and the broker die, strangers publish, disks fill up."""

from __future__ import annotations

import gc
import ipaddress
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from amqp.basic_message import Message
from cryptography import x509
from kombu import pools

from shared.errors import Unavailable
from shared.queue.amqp_queues import AmqpQueues
from shared.queue.depth import QueueReader
from shared.queue.names import BATCH, INTERACTIVE, QUEUES, RENDER_TASK, VALIDATE, job_key
from shared.queue.queues import NOT_A_TASK, UNKNOWN_TASK, WRONG_ARGUMENTS
from shared.settings import WrongSetting, load_settings
from tests.certificates import write_certificate
from tests.farm.conftest import Front, read_counts
from tests.farm.test_tls import LOOPBACK, TlsEntrance
from tests.faults.farm import children_of
from tests.rabbitmq import RabbitServer
from tests.waiting import wait_until, within

pytestmark = [
    pytest.mark.services,
    # Connections that a test broke are closed by the collector, which says so.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ANSWER_SECONDS = 5.0
STORES = {
    "PRESSROOM_DATABASE_URL": "sqlite://",
    "PRESSROOM_REDIS_URL": "redis://127.0.0.1:1/0",
    "PRESSROOM_BLOB_URL": "file:///none",
}


@pytest.fixture
def broker(rabbit: RabbitServer) -> RabbitServer:
    """The server, with nothing in its queues."""
    pools.reset()  # kombu has one for each place, whatever its certificate
    for queue in QUEUES:
        rabbit.delete_queue(queue)
    return rabbit


@pytest.fixture
def front(redis_url: str, blob_url: str, broker: RabbitServer) -> Iterator[Front]:
    front = Front(redis_url, blob_url, broker.url)
    yield front
    front.redis.close()


@pytest.fixture
def start(start_worker: Callable[..., Any], broker: RabbitServer) -> Callable[..., Any]:
    """Start workers that take from the broker."""
    return lambda **settings: start_worker(**{"broker_url": broker.url, **settings})


@pytest.fixture
def reader(front: Front, broker: RabbitServer) -> QueueReader:
    return QueueReader(front.redis, AmqpQueues.connect(broker.url))


def test_jobs_of_a_killed_worker_are_redelivered_at_once(front, start, tmp_path):
    began = tmp_path / "began"
    worker = start()
    job = front.send(f"sleep 2 {began}")
    wait_until(began.exists)
    os.killpg(worker.pid, signal.SIGKILL)
    start()
    # No lease runs out first, as on Redis: the next worker has it as soon as it is there.
    assert front.wait(job).pages == 1
    assert front.redis.hget(job_key(job.id), "deliveries") == b"2"
    assert front.used() == (1, 1)


def test_a_job_that_brings_its_worker_down_twice_is_given_up(front, start):
    start()
    assert front.render("die").error.status == 500
    assert front.render("pages 1").pages == 1


def test_connections_that_are_lost_as_a_job_runs_are_not_laid_to_its_charge(
    front, start, broker, tmp_path
):
    began = tmp_path / "began"
    worker = start()
    job = front.send(f"sleep 12 {began}")
    wait_until(began.exists)
    for _ in range(3):
        before = wait_until(lambda: broker.find_consumers(INTERACTIVE))
        broker.run("close_all_connections", "for a test")
        wait_until(lambda old=before: not old & broker.find_consumers(INTERACTIVE))
    assert front.wait(job).pages == 1
    assert front.used() == (1, 1)
    assert worker.poll() is None
    assert front.render("pages 1").pages == 1
    assert began.read_text().count("\n") == 1


@pytest.mark.parametrize("harm", ["freeze", "block", "kill"])
def test_a_front_is_refused_in_time_whatever_is_wrong_with_the_broker(front, broker, reader, harm):
    front.send("pages 1")
    harms = {
        "freeze": (lambda: broker.signal(signal.SIGSTOP), lambda: broker.signal(signal.SIGCONT)),
        # As when its memory or disk runs out: it reads no more from publishers.
        "block": (lambda: set_watermark(broker, "0.00001"), lambda: set_watermark(broker, "0.4")),
        "kill": (broker.kill, broker.start),
    }
    do, undo = harms[harm]
    if harm == "kill":
        # A quorum queue of RabbitMQ 3.10 that was declared just before may never confirm again.
        time.sleep(5)
    do()
    try:
        for _ in range(2):
            with within(ANSWER_SECONDS), pytest.raises(Unavailable):
                front.send("pages 1")
        # These share one interpreter, and the machine with other tests: 5.2 s were seen there.
        crowd = within(2 * ANSWER_SECONDS)
        with crowd, pytest.raises(Unavailable), ThreadPoolExecutor(64) as pool:
            list(pool.map(front.send, ["pages 1"] * 64))
        if harm != "block":  # which readers do not notice
            with within(ANSWER_SECONDS), pytest.raises(Unavailable):
                reader.read_depth()
    finally:
        undo()
    wait_until(lambda: is_accepted(front))
    assert reader.read_depth().queues[INTERACTIVE].waiting > 0


def test_waiting_and_running_jobs_are_counted_with_their_age(front, start, reader, tmp_path):
    def depth():
        return reader.read_depth().queues[INTERACTIVE]

    assert depth().oldest_seconds == 0
    began = tmp_path / "began"
    front.send(f"sleep 6 {began}")
    jobs = [front.send("pages 1") for _ in range(3)]
    wait_until(lambda: (depth().waiting, depth().running) == (4, 0) and depth().oldest_seconds > 0)
    start()
    wait_until(began.exists)
    # A worker with one slot has one message: the others wait for a free worker.
    wait_until(lambda: (depth().waiting, depth().running) == (3, 1))
    # They end, if with a 503: no client has waited for them meanwhile.
    assert all(front.wait(job) is not None for job in jobs)
    wait_until(lambda: depth().oldest_seconds == 0)


def test_foreign_messages_are_dropped_and_counted_and_the_processes_keep_running(
    front, start, broker, reader, free_tcp_port
):
    worker = start(worker_concurrency="1", worker_metrics_port=str(free_tcp_port))
    assert front.render().pages == 1
    children = children_of(worker.pid)
    expected: Counter[tuple[str, ...]] = Counter()
    with broker.client() as channel:
        for message, reason in foreign_messages(front):
            for queue in (INTERACTIVE, BATCH):
                channel.basic_publish(message, "", queue)
                expected[reason,] += 1
                assert front.wait(front.send(), seconds=20).pages == 1, (message.properties, reason)
    wait_until(lambda: not any(head.waiting for head in reader.read_depth().queues.values()))
    wait_until(lambda: read_counts(free_tcp_port, "messages_dropped") == expected)
    assert worker.poll() is None
    assert children_of(worker.pid) == children


def test_a_queue_that_was_deleted_takes_nothing_in_silence(front, broker, reader):
    front.send("pages 1")
    broker.delete_queue(INTERACTIVE)
    with pytest.raises(Unavailable):
        front.send("pages 1")
    front.send("pages 1")
    assert reader.read_depth().queues[INTERACTIVE].waiting == 1


def test_a_worker_names_a_queue_that_is_not_as_it_needs_it(start, broker, tmp_path):
    with broker.client() as channel:
        channel.queue_declare(VALIDATE, durable=True, auto_delete=False)
    assert start().wait(60) == 1
    said = (tmp_path / "worker0.log").read_text()
    assert "pressroom worker: the broker has a queue 'validate' with other properties" in said


def test_a_worker_without_rights_reports_it(start, broker, tmp_path):
    broker.run("add_user", "stranger", "stranger")
    broker.run("set_permissions", "stranger", "^$", "^$", "^$")
    url = broker.url.replace(f"{broker.user}:{broker.password}", "stranger:stranger")
    assert start(broker_url=url).wait(60) == 1
    said = (tmp_path / "worker0.log").read_text()
    assert "pressroom worker: the broker's user may not declare and use queue" in said


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "rabbit.pem"
    return write_certificate(file, valid_for=x509.IPAddress(ipaddress.ip_address(LOOPBACK)))


@pytest.fixture
def entrance(broker, certificate):
    entrance = TlsEntrance(broker.port, certificate)
    yield entrance
    entrance.close()
    gc.collect()  # here, and not in the middle of another test


def test_a_render_crosses_the_broker_over_tls_and_no_other_certificate_is_trusted(
    front, start, broker, entrance, certificate
):
    place = broker.url.replace("amqp://", "amqps://").replace(str(broker.port), str(entrance.port))
    url = f"{place}?ssl_ca_certs={certificate}"
    start(broker_url=url)
    own = Front(front.url, front.blob_url, url)
    assert own.render("pages 2").pages == 2
    other = place.replace(LOOPBACK, "localhost")  # valid for the address alone
    for wrong in (place, f"{other}?ssl_ca_certs={certificate}"):
        pools.reset()
        with pytest.raises(Unavailable):
            Front(front.url, front.blob_url, wrong).send("pages 1")


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1/", "amqp:///", "http://x", "amqp://x:port/", "amqp://h/?ssl="]
)
def test_an_invalid_amqp_url_is_rejected_without_being_shown(url):
    with pytest.raises(WrongSetting, match=r"^PRESSROOM_BROKER_URL: ") as refusal:
        load_settings(STORES | {"PRESSROOM_BROKER_URL": url + "secret"})
    assert "secret" not in str(refusal.value)


def test_a_farm_of_several_shards_has_its_queues_on_redis():
    given = STORES | {"PRESSROOM_REDIS_URL": "redis://x redis://y"}
    with pytest.raises(WrongSetting, match=r"PRESSROOM_BROKER_URL: .*several shards"):
        load_settings(given | {"PRESSROOM_BROKER_URL": "amqp://localhost"})


def set_watermark(broker: RabbitServer, share: str) -> None:
    broker.run("set_vm_memory_high_watermark", share)
    time.sleep(0.5)  # the server tells its connections of it by and by


def is_accepted(front: Front) -> bool:
    try:
        front.send("pages 1")
    except Unavailable:
        return False
    return True


def foreign_messages(front: Front) -> Iterator[tuple[Message, str]]:
    """Yield foreign messages with the reason to drop each: those that AMQP alone can say, and some of all."""
    headers = {
        "task": RENDER_TASK, "id": "x", "timelimit": [5.0, None],
        "eta": None, "expires": None, "retries": 0,
    }  # fmt: skip
    body = json.dumps([[front.job().encode()], {}, {}], default=str)

    def make(
        text: str | bytes = body, *, without: str = "", kind: str = "application/json",
        encoding: str = "utf-8", **changed: Any,
    ) -> Message:  # fmt: skip
        own = {name: value for name, value in (headers | changed).items() if name != without}
        return Message(text, content_type=kind, content_encoding=encoding, application_headers=own)

    yield Message(""), NOT_A_TASK
    yield Message(bytes(range(256))), NOT_A_TASK
    yield Message("{}", content_type="application/json", content_encoding="utf-8"), NOT_A_TASK
    yield make(without="task"), NOT_A_TASK
    yield make(without="timelimit"), NOT_A_TASK
    yield make(timelimit=["soon", None]), NOT_A_TASK
    yield make(eta="2099-01-01T00:00:00"), NOT_A_TASK
    yield make(id="x" * 100_000), NOT_A_TASK
    yield make(compression="zlib"), NOT_A_TASK
    yield make(kind="application/x-python-serialize"), NOT_A_TASK
    yield make(body.encode(), encoding="binary"), NOT_A_TASK
    yield make(body.encode(), encoding="no-such-encoding"), NOT_A_TASK
    yield make(b"\xff\xfe"), NOT_A_TASK
    yield make(task="os.system"), UNKNOWN_TASK
    yield make("[[],{},{}]"), WRONG_ARGUMENTS
