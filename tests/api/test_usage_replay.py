"""The usage of a returned PDF is counted even if Redis loses the event before the counter has read it."""

import http.client
import time

import pytest

from shared.usage.metering import UsageEvent
from tests.waiting import wait_until


@pytest.fixture
def database_url(sqlite_url):
    return sqlite_url


@pytest.fixture
def render(port, account):
    def render():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Authorization": f"Bearer {account.api_key}", "Content-Type": "text/xml"}
        connection.request("POST", "/v2/pdf", b"<document/>", headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    return render


@pytest.mark.long
def test_a_render_that_was_rejected_is_not_given_again(render, worker, redis):
    assert render() == 200
    wait_until_looked(redis)
    worker.pdf = b"x" * 100_000  # too large for the reply itself

    def lose_its_pdf(job):
        outcome = worker.succeed(job)
        worker.claims.delete_claim(outcome.pdf)
        return outcome

    worker.answer = lose_its_pdf
    assert render() >= 500
    redis.flushall()
    wait_until(lambda: ids_in_stream(redis) == {worker.jobs[0].id})
    time.sleep(1.5)
    assert ids_in_stream(redis) == {worker.jobs[0].id}


def wait_until_looked(redis):
    """Wait until each of the two processes has seen which Redis it is."""
    wait_until(lambda: redis.exists("farm:memory"))
    time.sleep(3)


def ids_in_stream(redis):
    return {UsageEvent.decode(fields[b"event"]).job_id for _, fields in redis.xrange("usage")}
