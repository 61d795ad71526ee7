"""Records are read by many threads, and texts of clients as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from shared.batches.plans import Plan
from shared.records import check_texts

FIRST_USES = """
import sys, threading, typing, msgspec
from shared.records import Record

sys.setswitchinterval(1e-6)
Positive = typing.Annotated[int, msgspec.Meta(ge=0)]

def read(kind, value, start):
    start.wait()
    kind.of_builtins(value)

for number in range(300):
    fields = [(f"field_{at}", Positive, 0) for at in range(30)]
    inner = msgspec.defstruct(f"Inner{number}", fields, bases=(Record,), frozen=True)
    fields = [(f"field_{at}", inner | None, None) for at in range(20)]
    outer = msgspec.defstruct(f"Outer{number}", fields, bases=(Record,), frozen=True)
    start = threading.Barrier(4)
    read_first = [(outer, {"field_0": {"field_9": 1}}), (inner, {"field_9": 1})] * 2
    threads = [threading.Thread(target=read, args=(*each, start)) for each in read_first]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_the_first_uses_of_a_record_in_several_threads_do_not_end_the_process() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_USES], check=False, cwd=Path(__file__).parents[2]
    )
    assert ended.returncode == 0


def test_a_stored_plan_may_have_a_path_that_is_not_accepted_any_more() -> None:
    stored = Plan.of_builtins({"household": "home\n"})
    assert stored.household == "home\n"
    with pytest.raises(msgspec.ValidationError, match="household"):
        check_texts(stored)
