"""Fresh identifiers: each its own, and later ones after earlier ones."""

from __future__ import annotations

import re

from shared import identifiers
from shared.clock import epoch
from shared.identifiers import new_id
from tests.waiting import wait_until


def test_identifiers_are_safe_and_no_two_are_alike():
    made = [new_id("job") for _ in range(10_000)]
    assert all(re.fullmatch(r"job_[2-7a-z]{24}", each) for each in made)
    assert len(set(made)) == len(made)
    assert len({each[-15:] for each in made}) == len(made)


def test_later_ones_sort_after_earlier_ones():
    made = [new_id("job")]
    for _ in range(50):
        last = epoch()
        wait_until(lambda last=last: epoch() - last > 0.001, pause=0.0005)
        made.append(new_id("job"))
    assert made == sorted(made)


def test_identifiers_sort_by_time_for_a_thousand_years(monkeypatch):
    made = []
    for seconds in (0, 1, 1_790_000_000, 4_000_000_000, 35_000_000_000):
        monkeypatch.setattr(identifiers, "epoch", lambda seconds=seconds: float(seconds))
        made.append(new_id("job"))
    assert made == sorted(made)
    assert {len(each) for each in made} == {28}
