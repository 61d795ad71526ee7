"""Messages survive the queue unchanged, and hostile text in them stops no process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.jobs.records import (
    Allowance,
    BodyKind,
    Claim,
    ClaimStorage,
    JobOutcome,
    Meter,
    OutcomeStatus,
    PinnedTemplate,
    Purpose,
    RenderJob,
)
from shared.usage.metering import UsageEvent

texts = st.text(max_size=20)
LARGEST = 2**64 - 1  # beyond it, JSON that others read has no integers
claims = st.builds(
    Claim,
    st.sampled_from(ClaimStorage),
    st.integers(0, LARGEST),
    data=st.binary(max_size=50),
    key=texts,
)
jobs = st.builds(
    RenderJob,
    id=texts,
    request_id=texts,
    workspace_id=st.none() | texts,
    meter=st.builds(
        Meter,
        texts,
        texts,
        st.sampled_from(Allowance),
        st.none() | st.integers(0, LARGEST),
        st.none() | texts,
    ),
    body_kind=st.sampled_from(BodyKind),
    body=claims,
    charset=st.none() | texts,
    template=st.none()
    | st.builds(PinnedTemplate, texts, st.none() | st.integers(1, LARGEST), texts),
    flow=st.none() | texts,
    admitted_at=st.floats(0, 4e9),
    deadline=st.floats(0, 4e9),
    purpose=st.sampled_from(Purpose),
)
errors = st.builds(
    ErrorBody,
    st.integers(400, 599),
    texts,
    st.sampled_from(ErrorKind),
    code=st.none() | st.sampled_from(ErrorCode),
    data=st.dictionaries(texts, st.integers(-(2**63), LARGEST), max_size=2),
    stack_trace=st.lists(st.dictionaries(texts, texts, max_size=2), max_size=2).map(tuple),
)
outcomes = st.builds(
    JobOutcome,
    texts,
    st.sampled_from(OutcomeStatus),
    pages=st.integers(0, LARGEST),
    filename=st.none() | texts,
    pdf=st.none() | claims,
    error=st.none() | errors,
    timings=st.dictionaries(texts, st.floats(0, 1e6), max_size=3),
    properties=st.none() | st.dictionaries(texts, st.integers(0, LARGEST), max_size=2),
)


@given(jobs)
def test_a_job_survives_its_message(job):
    assert RenderJob.decode(job.encode()) == job


@given(outcomes)
def test_an_outcome_survives_its_message(outcome):
    assert JobOutcome.decode(outcome.encode()) == outcome


@given(st.text() | st.binary() | st.from_regex(r'\{"type":"pressroom.pages",.*\}'))
def test_no_text_but_an_event_is_read_as_one(text):
    with pytest.raises(ValueError):
        UsageEvent.decode(text)


def test_a_message_of_another_version_is_refused():
    with pytest.raises(ValueError, match="v`"):
        RenderJob.decode('{"v": 2}')
