"""The template reference grammar parses, prints back, and refuses with the reason."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ServiceError
from shared.templates.references import LATEST, LIVE, TemplateReference, parse_reference


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("invoice", LIVE),
        ("invoice@live", LIVE),
        ("invoice@latest", LATEST),
        ("invoice@1", 1),
        ("invoice@1234567890123456", 1234567890123456),
        ("invoice@stable", "stable"),
        ("invoice@2026-q1", "2026-q1"),
    ],
)
def test_each_form_is_read(text, selector):
    assert parse_reference(text, field="template") == TemplateReference("invoice", selector)


@pytest.mark.parametrize(
    "text",
    ["", "@", "a@", "@live", "a@b@c", "a b", "a/b", "__a__", "____", "a" * 129, "a@0", "a@01", "a@-1",
     "a@1.0", "a@12345678901234567", "a@Stable", "a@b--c", "a@-b", "a@" + "b" * 65, "a@²", "a\n", "é"],
)  # fmt: skip
def test_anything_else_is_refused_naming_the_field(text):
    with pytest.raises(ServiceError) as caught:
        parse_reference(text, field="template")
    assert caught.value.body.status == 400
    assert caught.value.body.message.startswith("Invalid template ")
    assert caught.value.body.code is None


@given(
    st.from_regex(
        r"[a-z0-9_-]{1,20}(@(live|latest|[1-9][0-9]{0,9}|[a-z]{1,5}(-[a-z]{1,5})?))?",
        fullmatch=True,
    )
)
def test_a_reference_prints_back(text):
    try:
        reference = parse_reference(text, field="template")
    except ServiceError:
        assert text.startswith("__")
        return
    assert str(reference) == text.removesuffix("@live")
    assert parse_reference(str(reference), field="template") == reference


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    with suppress(ServiceError):
        assert len(str(parse_reference(text, field="template"))) <= 128 + 1 + 64
