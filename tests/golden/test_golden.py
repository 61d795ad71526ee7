"""Every case is laid out as its reference says, with the findings it expects and no others."""

from __future__ import annotations

import random
from difflib import unified_diff
from math import inf
from typing import Any

import pytest

from tests.golden.case import FOLDER, LINKED, OPTIONS, Case, FolderImages, find_cases
from tests.golden.dump import dump_pages
from tests.golden.pictures import MAX_BYTES, draw, is_same, to_png
from tests.golden.report import REPORT
from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings
from workers.engine.layout import passes
from workers.engine.layout.context import LayoutContext, LayoutFunction, Region, Resume
from workers.engine.layout.passes import LAYOUTS
from workers.engine.pipeline import (
    PreparedTemplate,
    build_document,
    lay_out_document,
    prepare_template,
)

CASES = find_cases()
# Where ink matters: borders and radii, cut-off text, marks, bars, alpha, turns, decoration.
PICTURED = (
    *(
        "blocks", "box", "overflow", "watermark", "barcodes-bars", "font-features",
        "barcodes-more", "barcodes", "barcode-swiss", "charts", "color-fonts", "scripts",
        "scripts-rtl", "scripts-cjk", "direction", "images", "letterhead", "positions",
    ),
    *("inline", "text", "svg"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case, is_update: bool, failed: dict[Case, str]):
    pages, found = lay_out(case)
    compare_findings(case, found)
    if is_update:
        write_reference(case, pages)
    else:
        compare_pages(case, pages, failed)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_discarded_attempts_change_nothing(case: Case, monkeypatch: pytest.MonkeyPatch):
    attempts = Attempts(case.name)
    monkeypatch.setattr(passes, "LAYOUTS", {kind: attempts.before(kind) for kind in LAYOUTS})
    pages, found = lay_out(case)
    compare_findings(case, found)
    compare_pages(case, pages, {})


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_next_document_of_a_template_has_the_same_findings(case: Case):
    if not case.expected:
        return
    try:
        template = prepare_template(case.source, LINKED)
    except AuthoringError:
        return
    first, second = lay_out(case, template), lay_out(case, template)
    assert second == first


class Attempts:
    """Lays out blocks in random regions and discards the result, before it lays them out."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.is_trying = False

    def before(self, kind: type) -> LayoutFunction:
        lay_out = LAYOUTS[kind]

        def attempt(context: LayoutContext, node: Any, region: Region, resume: Resume) -> Any:
            if not self.is_trying and self.random.random() < 0.3:
                self.is_trying = True
                height = self.random.choice((5.0, 20.0, 100.0, inf))
                lay_out(context, node, region._replace(height=height), resume)
                self.is_trying = False
            return lay_out(context, node, region, resume)

        return attempt


@pytest.mark.parametrize("name", PICTURED)
def test_ink_is_as_its_picture(name: str, is_update: bool, failed: dict[Case, str]):
    case = Case(name)
    picture = draw(case)
    if is_update:
        case.picture.write_bytes(to_png(picture))
    assert case.picture.stat().st_size <= MAX_BYTES
    if not is_same(case.picture.read_bytes(), picture):
        failed[case] = lay_out(case)[0] or ""
        pytest.fail(f"{name} looks otherwise: see {REPORT} (make golden-update)")


def test_every_picture_is_compared():
    assert {path.stem for path in (FOLDER / "refs").glob("*.png")} == set(PICTURED)


def test_every_reference_has_a_case():
    names = {case.name for case in CASES}
    assert {path.stem for path in (FOLDER / "refs").glob("*.txt")} <= names


def lay_out(
    case: Case, template: PreparedTemplate | None = None
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the page dump, None when the document has errors, and all findings."""
    findings = Findings()
    try:
        template = template or prepare_template(case.source, LINKED)
        document, _ = build_document(template, case.payload, options=OPTIONS, findings=findings)
        laid_out = lay_out_document(document, resources=FolderImages(), findings=findings)
    except AuthoringError as error:
        return None, (*error.diagnostics, *findings.warnings)
    return dump_pages(laid_out), findings.warnings


def compare_findings(case: Case, found: tuple[Diagnostic, ...]) -> None:
    expected = case.expected
    surplus = [one for one in found if not any(wanted.matches(one) for wanted in expected)]
    missing = [wanted for wanted in expected if not any(wanted.matches(one) for one in found)]
    told = "\n".join(
        f"not expected: {one.severity} line {one.location.span.line_start if one.location else '-'}: {one.text}"
        for one in surplus
    )
    assert not surplus, told
    assert not missing, f"not found: {missing}\nfound: {[one.text for one in found]}"


def write_reference(case: Case, pages: str | None) -> None:
    if pages is None:
        case.reference.unlink(missing_ok=True)
    else:
        case.reference.write_text(pages)


def compare_pages(case: Case, pages: str | None, failed: dict[Case, str]) -> None:
    before = case.reference.read_text() if case.reference.exists() else ""
    after = pages or ""
    if before != after:
        failed[case] = after
    difference = "\n".join(
        unified_diff(before.splitlines(), after.splitlines(), "reference", "now", lineterm="", n=1)
    )
    assert before == after, (
        f"{case.name} is laid out otherwise (make golden-update; {REPORT}):\n{difference}"
    )
