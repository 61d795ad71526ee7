"""A pin saves the database a read, and never outlives what it says."""

import pytest

from shared.queue.connection import connect
from shared.telemetry.observer import Cache
from shared.templates.pinning import Pins

LIVE, PUBLISHED = "1" * 64, "2" * 64


@pytest.fixture
def pins(redis_url):
    redis = connect(redis_url)
    redis.flushall()
    yield Pins(redis, "templates", Cache.TEMPLATE_PINS)
    redis.close()


def test_a_pin_is_stored_per_account_and_reference(pins):
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


def test_a_stale_reader_cannot_restore_the_old_state(pins):
    pins.drop("acc_1")
    pins.put("acc_1", "invoice", LIVE)
    assert pins.find("acc_1", "invoice") is None


def test_a_change_of_a_name_forgets_no_other_name(pins):
    pins.put("ws_1", "logo", "1" * 64)
    pins.put("ws_1", "seal", "2" * 64)
    pins.drop("ws_1", "logo")
    pins.put("ws_1", "logo", "1" * 64)  # a stale reader
    pins.put("ws_1", "sign", "3" * 64)
    found = [pins.find("ws_1", name) for name in ("logo", "seal", "sign")]
    assert found == [None, "2" * 64, "3" * 64]
