"""The machines of a farm show different times: what is timed is timed by Redis' clock."""

from __future__ import annotations

import pytest

from tests.faults.conftest import assert_sound
from tests.faults.farm import read_problems, scrape
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

# Loaded by every Python process of the farm before anything else; Redis keeps the true time.
SHIFTED = """
import os, time
_read, _shift = time.time, float(os.environ["TEST_CLOCK_SHIFT"])
time.time = lambda: _read() + _shift
"""


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_renders_are_answered_with_clocks_an_hour_off_and_status_reports_it(
    start, tmp_path, seconds
):
    (tmp_path / "sitecustomize.py").write_text(SHIFTED)
    farm = start(PYTHONPATH=str(tmp_path), TEST_CLOCK_SHIFT=str(seconds))
    client = farm.client()
    template = farm.store_template()
    for number in range(5):
        entry = client.render(number, timeout=20)
        assert entry.status == 200
        assert entry.ended - entry.started < 10
    assert client.accept(5).status == 202
    assert client.submit(template, 50).status == 202
    assert_sound(farm)
    direction = "behind" if seconds < 0 else "ahead of"
    told = [problem for problem in read_problems(farm) if problem.startswith("the clock of ")]
    assert all(f" is 3600 s {direction} that of Redis" in problem for problem in told)
    kinds = {problem.split()[3] for problem in told}
    assert kinds == {"front", "worker", "maintenance", "counter"}
    for name in ("front", "worker_metrics", "maintenance_metrics", "counter_metrics"):
        assert scrape(farm, name, "pressroom_clock_ahead_seconds") == pytest.approx(
            [seconds], abs=2
        )


def test_a_farm_whose_clocks_agree_has_nothing_to_tell(start):
    farm = start()
    assert farm.client().render(0).status == 200
    wait_until(lambda: not read_problems(farm))
    assert scrape(farm, "front", "pressroom_clock_ahead_seconds") == pytest.approx([0], abs=1)
