"""One account's many renders, and its images on slow servers, hold up no other account."""

from __future__ import annotations

import http.client
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from tests.conftest import create_account_of
from tests.faults.clients import note
from tests.faults.farm import FaultyFarm

pytestmark = [pytest.mark.faults, pytest.mark.alone]

# A few of the clients, and all of them: both are more than there are slots.
HEAVY_RENDERS = [12, pytest.param(48, marks=pytest.mark.long)]
SLOW_IMAGES = [8, pytest.param(40, marks=pytest.mark.long)]
IMAGE_SECONDS = 10
SECONDS = 6.0  # for which the stranger is timed
WARM_UP_SECONDS = 1.5
# A machine that tests share jitters by this much, whatever else is rendered.
JITTER_MS = 15.0
MOST_TIMES = 3
SENTENCE = "Some words that are set in a line, long enough to be broken into two or three of them."


@pytest.mark.parametrize("count", HEAVY_RENDERS)
def test_many_heavy_renders_of_one_account_delay_no_other(start, count) -> None:
    """Renders of 0.7 s each, a number of them concurrently, all the time."""
    rest = "".join(f"</p><p>{n} {SENTENCE}" for n in range(8000))
    statuses = check(start(), count, lambda _: note(0, rest))
    # On a slow machine some of the 48 have no time left when their turn comes.
    assert set(statuses) <= {200, 503, 504}


@pytest.mark.parametrize("count", SLOW_IMAGES)
def test_slow_images_of_one_account_delay_no_other(start, count) -> None:
    """Concurrent documents, each with an image of its own whose server takes 10 s."""
    farm = start(PRESSROOM_OUTBOUND_ALLOW_PRIVATE="true")
    with slow_server() as url:

        def make(number: int) -> bytes:
            return note(0, f'</p><img src="{url}/{number}" optional="true" alt=""/><p>')

        statuses = check(farm, count, make)
    # Of one account's images on one server four are fetched at once: the others time out.
    assert set(statuses) <= {200, 503, 504}
    assert statuses[200] >= 4


def check(farm: FaultyFarm, count: int, make: Callable[[int], bytes]) -> Counter[int]:
    """Time a stranger alone and next to as many clients of another account; return their statuses."""
    key = create_account_of(farm.farm, plan="paid").api_key
    measure(farm, key)  # the first round warms up what it meets
    alone = [measure(farm, key)]
    with crowd(farm, count, make) as statuses:
        time.sleep(WARM_UP_SECONDS)
        beside = measure(farm, key)
    alone.append(measure(farm, key))
    farm.faults += count
    print(
        f"p95 of the stranger: {beside:.1f} ms beside {count}, {alone[0]:.1f} and {alone[1]:.1f} ms "
        f"alone; the others: {dict(statuses)}"
    )
    assert beside <= MOST_TIMES * statistics.mean(alone) + JITTER_MS
    return statuses


def measure(farm: FaultyFarm, key: str) -> float:
    """Return the 95th percentile, in milliseconds, of what renders of one page take."""
    times = []
    give_up_at = time.monotonic() + SECONDS
    while time.monotonic() < give_up_at:
        began = time.monotonic()
        assert render(farm, key, note(0)) == 200
        times.append(time.monotonic() - began)
    return sorted(times)[int(len(times) * 0.95)] * 1000


def render(farm: FaultyFarm, key: str, text: bytes) -> int:
    """Render a document and return the status."""
    port = farm.farm.record.ports["front"]
    headers = {"x-api-key": key, "Content-Type": "text/xml"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=90)) as connection:
        connection.request("POST", "/v2/pdf", text, headers)
        answer = connection.getresponse()
        assert answer.read()
        return answer.status


@contextmanager
def crowd(farm: FaultyFarm, count: int, make: Callable[[int], bytes]) -> Iterator[Counter[int]]:
    """Run clients of the farm's account that render in a loop; yield their statuses."""
    statuses: Counter[int] = Counter()
    is_over = Event()

    def go_on(number: int) -> None:
        while not is_over.is_set():
            statuses[render(farm, farm.key, make(number))] += 1
            number += count

    threads = [Thread(target=go_on, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


class _Slow(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        time.sleep(IMAGE_SECONDS)
        with suppress(OSError):  # who asked has gone
            self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def slow_server() -> Iterator[str]:
    """Run a server of images that takes its time, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
