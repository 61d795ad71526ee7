"""Settings are read from the environment, and every wrong one is named in a line of its own."""

from __future__ import annotations

import pytest

from shared.settings import Settings, WrongSetting, load_settings

NEEDED = {
    "PRESSROOM_DATABASE_URL": "sqlite:////tmp/x",
    "PRESSROOM_REDIS_URL": "redis://localhost/0",
    "PRESSROOM_BLOB_URL": "file:///tmp/x",
}


def load(**given: str) -> Settings:
    return load_settings(
        NEEDED | {f"PRESSROOM_{name.upper()}": text for name, text in given.items()}
    )


def test_text_of_the_environment_becomes_values_of_their_types():
    read = load(traces="true", studio_local_http="0", render_budget="2.5", max_waiting="7")
    assert (read.traces, read.studio_local_http) == (True, False)
    assert (read.render_budget, read.max_waiting, read.log_format) == (2.5, 7, "json")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("max_waiting", "many", "int"),
        ("max_waiting", "0", ">= 1"),
        ("worker_nice", "20", "<= 19"),
        ("traces", "perhaps", "bool"),
        ("log_format", "xml", "json|text"),
        ("record_days", "2", "PRESSROOM_RESULT_HOURS"),
        ("cors_origins", "ftp://x", "is not an origin"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_accepted(name, text, reason):
    with pytest.raises(WrongSetting) as told:
        load(**{name: text}, result_hours="72")
    assert str(told.value).startswith(f"PRESSROOM_{name.upper()}: ")
    assert reason in str(told.value)


def test_every_wrong_variable_has_a_line():
    with pytest.raises(WrongSetting) as told:
        load(max_waiting="many", redis_url="nothing", batch_mb="0")
    assert [line.partition(":")[0] for line in str(told.value).splitlines()] == [
        "PRESSROOM_BATCH_MB",
        "PRESSROOM_REDIS_URL",
        "PRESSROOM_MAX_WAITING",
    ]
