"""The log: one line an event, ids bound once, and nothing of what people sent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import logging
from shared.telemetry.log import get_logger, log_context, set_up_logging
set_up_logging(level="INFO", log_format={log_format!r})
log = get_logger("pressroom.test")
with log_context(job="job_1", request="req_1"):
    log.info("render finished", pages=3)
    logging.getLogger("some.library").warning("watch %s", "out")
log.debug("not shown")
def stumble(body):
    raise ValueError("bad")
try:
    stumble(body="the document's " + "text")
except ValueError as error:
    log.error("render failed", exc_info=error)
"""


ODD = r"""
from shared.telemetry.log import get_logger, log_context, set_up_logging
set_up_logging(level="INFO", log_format="json")
with log_context(job="job_1", part="outer"):
    with log_context(part="inner"):
        get_logger("pressroom.test").info("named", name="Zo\u00eb \u009b31m \ud800", size=2**80, kind=ValueError)
    get_logger("pressroom.test").info("after")
get_logger("pressroom.test").info("outside")
"""


def run(log_format: str, script: str = SCRIPT) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script.format(log_format=log_format)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()


def test_lines_are_json_with_the_bound_ids_for_us_and_for_libraries():
    ours, library, failure = map(json.loads, run("json"))
    assert (ours["event"], ours["pages"], ours["level"]) == ("render finished", 3, "info")
    assert (library["event"], library["logger"]) == ("watch out", "some.library")
    assert ours["job"] == library["job"] == "job_1"
    assert "job" not in failure
    assert "ValueError: bad" in failure["exception"]


@pytest.mark.long
def test_no_format_shows_the_values_of_variables():
    for log_format in ("json", "text"):
        text = "\n".join(run(log_format))
        assert "ValueError" in text
        assert "the document's text" not in text


def test_whatever_is_logged_is_a_line_that_means_nothing_to_a_terminal():
    named, after, outside = run("json", ODD)
    assert named.isascii()
    fields = json.loads(named)
    assert (fields["name"][:4], fields["size"], fields["part"]) == ("Zoë ", 2**80, "inner")
    assert fields["kind"] == repr(ValueError)
    assert (json.loads(after)["job"], json.loads(after)["part"]) == ("job_1", "outer")
    assert "job" not in json.loads(outside)


def test_a_line_that_cannot_be_written_is_dropped_and_fails_nothing():
    code = "from shared.telemetry.log import *; set_up_logging(level='INFO', log_format='json');"
    code += "get_logger('x').error('message'); print('went on')"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert done.stdout == "went on\n"
