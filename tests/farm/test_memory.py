"""A child whose memory is bounded renders one large document after the other."""

from __future__ import annotations

import pytest

from tests.farm.conftest import real_worker

DOCUMENT = "<document><flow><p>x</p></flow><!--{}--></document>"


@pytest.mark.long
def test_large_documents_leave_room_for_the_next(front, real_environment, tmp_path):
    bounded = real_environment | {"PRESSROOM_CHILD_MEMORY_MB": "512"}
    text = DOCUMENT.format("x" * 16_000_000)
    with real_worker(bounded, tmp_path):
        outcomes = [front.render(text) for _ in range(12)]
    assert [outcome.error for outcome in outcomes] == [None] * 12
