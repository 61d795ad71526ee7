"""A pin saves the database a read, and never outlives what it says."""

import pytest

from shared.buckets.pins import TemplatePins
from shared.errors import Unavailable
from shared.jobs import PinnedTemplate
from shared.queue.connection import connect

LIVE = PinnedTemplate("a" * 20, None, "1" * 64)
PUBLISHED = PinnedTemplate("a" * 20, 3, "2" * 64)


@pytest.fixture
def pins(redis_url):
    redis = connect(redis_url)
    redis.flushall()
    yield TemplatePins(redis)
    redis.close()


def test_a_pin_is_kept_for_its_account_and_reference(pins):
    pins.put("acc_1", "invoice", LIVE)
    pins.put("acc_1", "invoice@3", PUBLISHED)
    assert pins.find("acc_1", "invoice") == LIVE
    assert pins.find("acc_1", "invoice@3") == PUBLISHED
    assert pins.find("acc_1", "invoice@latest") is None
    assert pins.find("acc_2", "invoice") is None


def test_a_change_forgets_the_pins_of_its_account_alone(pins):
    pins.put("acc_1", "invoice", LIVE)
    pins.put("acc_2", "invoice", LIVE)
    pins.drop("acc_1")
    assert pins.find("acc_1", "invoice") is None
    assert pins.find("acc_2", "invoice") == LIVE


def test_a_reader_who_saw_the_state_before_a_change_cannot_put_it_back(pins):
    pins.drop("acc_1")
    pins.put("acc_1", "invoice", LIVE)
    assert pins.find("acc_1", "invoice") is None


def test_a_redis_that_is_away_is_told():
    away = TemplatePins(connect("redis://127.0.0.1:1/0"))
    with pytest.raises(Unavailable):
        away.find("acc_1", "invoice")
