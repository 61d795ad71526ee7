"""Every case as a file: sound, the same at every render, and fit for archives where nothing forbids it."""

from __future__ import annotations

import io
import re
from functools import cache

import pikepdf
import pytest

from tests.engine.finish.archive_rules import find_violations
from tests.golden.case import OPTIONS, Case, FolderImages, find_cases
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render

CASES = find_cases()
# What a document may hold, and a file for archives may not.
UNFIT = {"profile-color", "profile-depth", "missing-glyph", "profile-security"}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_file_is_sound_and_always_the_same(case: Case):
    file = made(case)
    if file is None:
        return
    if b"/Encrypt" in file:
        return  # its passwords are the tests' of finishing; random salts make each file another
    assert problems(file) == []
    assert made.__wrapped__(case) == file


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_file_conforms_to_a_profile(case: Case):
    if made(case) is None:
        return
    # Only what is attached tells PDF/A-3 from PDF/A-2.
    has_files = b"<attachment" in case.source or b"einvoice" in case.source
    profile = "pdf/a-3b" if has_files else "pdf/a-2b"
    try:
        file = render_source(case, as_archive(case.source.decode(), profile).encode())
    except AuthoringError as error:
        codes = {one.code for one in error.diagnostics}
        assert codes <= UNFIT
        return
    assert find_violations(file, int(profile[6])) == []


@cache
def made(case: Case) -> bytes | None:
    """Return the finished file of a case, None when it has errors."""
    try:
        return render_source(case, case.source)
    except AuthoringError:
        return None


def render_source(case: Case, source: bytes) -> bytes:
    template = prepare_template(source)
    return render(template, case.payload, options=OPTIONS, resources=FolderImages()).pdf


def problems(file: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(file)) as pdf:
        return [*pdf.check_pdf_syntax(), *map(str, pdf.get_warnings())]


def as_archive(source: str, profile: str) -> str:
    """Return a document a profile, without what always forbids one."""
    source = re.sub(r"<security\b[^>]*/>", "", source)
    source = re.sub(r'(<document\b[^>]*?)\sprofile="[^"]*"', r"\1", source)
    return re.sub(r"<document\b", f'<document profile="{profile}"', source, count=1)
