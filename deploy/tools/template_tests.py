"""Tests of templates: cases in files, run by the engine on this machine (decision 0501).

`NAME.case.json` names a template of the folder, its data, and what its document is expected to have. Approved
images of pages are beside it: `NAME.1.png` is page 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final
from xml.etree import ElementTree

import msgspec
import pypdfium2
from PIL import Image, ImageChops

from workers.engine.diagnostics import AuthoringError, Diagnostic, Severity
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.local_files import FolderResources, LinkedFiles
from workers.engine.pipeline import PreparedTemplate, prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions

SUFFIX: Final = ".case.json"
_KINDS: Final = {
    ".json": PayloadKind.JSON,
    ".csv": PayloadKind.CSV,
    ".md": PayloadKind.MARKDOWN,
    ".xml": PayloadKind.XML,
}
# Smaller differences of a channel, of 255, are not seen: releases of the rasteriser differ by them.
_UNSEEN: Final = 8
_CHANGED: Final = (220, 0, 0)
_PIXELS_PER_POINT: Final = 1

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a case: a misspelt name in it is an error."""


class TextOfPage(_Strict, frozen=True):
    """A text on one page."""

    text: str
    page: Count


class Images(_Strict, frozen=True):
    """Comparison with approved images: the share of a page's pixels that may differ, and the pages (all)."""

    tolerance: Share = 0.0
    pages: tuple[Count, ...] | None = None


class Expectations(_Strict, frozen=True, rename="kebab"):
    """What a document is expected to have. Without `findings` it may have any warnings, and no errors."""

    pages: int | None = None
    text: tuple[str | TextOfPage, ...] = ()
    no_text: tuple[str | TextOfPage, ...] = ()
    findings: tuple[str, ...] | None = None
    einvoice: dict[str, str | int | float] = {}
    images: bool | Images = False


class Case(_Strict, frozen=True):
    """A case: the template, its data as a file or inline, the time of the render, and the expectations.

    The time is fixed, so that a template that prints it is the same every day.
    """

    template: str
    data: str | dict[str, Any] | None = None
    flow: str | None = None
    now: Annotated[datetime, msgspec.Meta(tz=True)] = datetime(2026, 1, 1, 12, tzinfo=UTC)
    password: str | None = None
    expect: Expectations = Expectations()


@dataclass(frozen=True, slots=True)
class CaseRun:
    """How to run cases: the folders of their files, and where images of differences are written.

    With `approves` images are written in place of being compared.
    """

    folder: Path
    images: Path | None = None
    fonts: Path | None = None
    differences: Path | None = None
    approves: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a case: what differs from its expectations, or why it could not be run."""

    name: str
    template: str = ""
    failures: tuple[str, ...] = ()
    error: str | None = None
    approved: int = 0
    seconds: float = 0.0

    @property
    def has_passed(self) -> bool:
        """Whether it was run, and all is as expected."""
        return self.error is None and not self.failures


class _UnusableCase(Exception):
    """A case cannot be run; the message has the reason."""


def find_cases(folder: Path) -> list[Path]:
    """Return the files of the cases in a folder and its subfolders."""
    return sorted(folder.rglob(f"*{SUFFIX}"))


def run_case(file: Path, run: CaseRun) -> Result:
    """Render the document of a case, and compare it with what is expected."""
    started, case = perf_counter(), Case("")
    failures: list[str] = []
    name = file.relative_to(run.folder).as_posix().removesuffix(SUFFIX)
    approved, error = 0, None
    try:
        case = msgspec.json.decode(file.read_bytes(), type=Case)
        document = _render(case, file, run)
        if isinstance(document, Rendered):
            failures += _check_findings(case, document.warnings)
            failures += _check_invoice(case.expect.einvoice, document.pdf)
            with pypdfium2.PdfDocument(document.pdf, password=case.password) as pdf:
                pdf.init_forms()
                failures += _check_pages(case.expect, pdf)
                found, approved = _check_images(case.expect.images, pdf, file, run)
                failures += found
        else:
            failures += _check_findings(case, document)
    except (msgspec.DecodeError, OSError, _UnusableCase, pypdfium2.PdfiumError) as unusable:
        error = str(unusable)
    seconds = perf_counter() - started
    return Result(name, case.template, tuple(failures), error, approved, seconds)


def write_junit(results: Iterable[Result], seconds: float) -> bytes:
    """Write results as JUnit XML, which CI systems read; a template is a suite."""
    root = ElementTree.Element("testsuites", name="pressroom", time=f"{seconds:.3f}")
    suites: dict[str, list[Result]] = {}
    for result in results:
        suites.setdefault(result.template or "unreadable", []).append(result)
    for template, cases in sorted(suites.items()):
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=template,
            tests=str(len(cases)),
            failures=str(sum(bool(each.failures) for each in cases)),
            errors=str(sum(each.error is not None for each in cases)),
            time=f"{sum(each.seconds for each in cases):.3f}",
        )
        for each in cases:
            _write_case(suite, template, each)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _write_case(suite: ElementTree.Element, template: str, result: Result) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=template, name=result.name, time=f"{result.seconds:.3f}"
    )
    if result.error is not None:
        ElementTree.SubElement(case, "error", message=_xml_text(result.error))
    if result.failures:
        failure = ElementTree.SubElement(case, "failure", message=_xml_text(result.failures[0]))
        failure.text = _xml_text("\n".join(result.failures))


def _xml_text(text: str) -> str:
    """Replace what XML cannot have: control characters in the text of a document."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


# --- rendering ------------------------------------------------------------------------------------------


def _render(case: Case, file: Path, run: CaseRun) -> Rendered | tuple[Diagnostic, ...]:
    """Return the document of a case, or the errors that prevent it."""
    source = run.folder / f"{case.template}.xml"
    if not source.is_file():
        raise _UnusableCase(f"template: there is no {source}")
    try:
        return render(
            _prepare(source.read_bytes(), run.folder),
            _read_payload(case, file),
            options=RenderOptions(now=case.now),
            resources=FolderResources(run.images, run.fonts),
        )
    except AuthoringError as error:
        return error.diagnostics


@lru_cache(maxsize=100)
def _prepare(source: bytes, folder: Path) -> PreparedTemplate:
    return prepare_template(source, LinkedFiles(folder))


def _read_payload(case: Case, file: Path) -> Payload | None:
    if case.data is None:
        return None
    if not isinstance(case.data, str):
        return Payload(PayloadKind.JSON, msgspec.json.encode(case.data))
    data = file.parent / case.data
    kind = _KINDS.get(data.suffix.lower())
    if kind is None:
        raise _UnusableCase(f"data: {case.data} must end with one of {', '.join(_KINDS)}")
    return Payload(kind, data.read_bytes(), flow=case.flow)


# --- comparison -----------------------------------------------------------------------------------------


def _check_findings(case: Case, findings: Sequence[Diagnostic]) -> Iterator[str]:
    expected = case.expect.findings
    if expected is None:
        yield from (each.text for each in findings if each.severity is Severity.ERROR)
        return
    found = {each.code: each.text for each in reversed(findings)}
    yield from (f"findings: {text}" for code, text in found.items() if code not in expected)
    yield from (f"findings: there is no {code}" for code in expected if code not in found)


def _check_invoice(expected: Mapping[str, Any], pdf: bytes) -> Iterator[str]:
    if not expected:
        return
    report = check_external_invoice(pdf)
    if report.invoice is None:
        yield f"einvoice: {report.reason}"
        return
    for path, value in expected.items():
        found = _find_term(report.invoice.record, path.split("."))
        if found is None or not _is_same(found, value):
            shown = "missing" if found is None else found
            yield f"einvoice: {path} is {shown}, not {value}"


def _is_same(found: Any, expected: Any) -> bool:
    """Compare amounts as numbers: 20.00 is 20."""
    if isinstance(expected, int | float) and isinstance(found, Decimal):
        return found == Decimal(str(expected))
    return str(found) == str(expected)


def _find_term(record: Any, path: Sequence[str]) -> Any:
    """Return a term of an invoice by its path, such as `lines.0.name`."""
    for step in path:
        if isinstance(record, Mapping):
            record = record.get(step)
        elif isinstance(record, Sequence) and step.isdecimal() and int(step) < len(record):
            record = record[int(step)]
        else:
            return None
    return record


def _check_pages(expect: Expectations, pdf: pypdfium2.PdfDocument) -> Iterator[str]:
    if expect.pages is not None and len(pdf) != expect.pages:
        yield f"pages: there are {len(pdf)}, not {expect.pages}"
    if not expect.text and not expect.no_text:
        return
    texts = [_join(page.get_textpage().get_text_bounded()) for page in pdf]
    for is_wanted, expected in ((True, expect.text), (False, expect.no_text)):
        for each in expected:
            text, page = (each, 0) if isinstance(each, str) else (each.text, each.page)
            searched = texts[page - 1 : page] if page else texts
            if any(_join(text) in found for found in searched) != is_wanted:
                where = f"page {page}" if page else "any page"
                yield f"{'text' if is_wanted else 'no-text'}: {text!r} is {'not ' * is_wanted}on {where}"


def _join(text: str) -> str:
    """Return a text on one line: where lines break is not compared."""
    return " ".join(text.split())


def _check_images(
    expected: bool | Images, pdf: pypdfium2.PdfDocument, file: Path, run: CaseRun
) -> tuple[list[str], int]:
    """Return how pages differ from their approved images, and how many images were approved."""
    if not expected:
        return [], 0
    images = expected if isinstance(expected, Images) else Images()
    failures, approved = [], 0
    stem = file.name.removesuffix(SUFFIX)
    for number in images.pages or range(1, len(pdf) + 1):
        kept = file.with_name(f"{stem}.{number}.png")
        if number > len(pdf):
            failures.append(f"images: there is no page {number}")
            continue
        drawn = pdf[number - 1].render(scale=_PIXELS_PER_POINT).to_pil().convert("RGB")
        reason, changed = _compare(drawn, kept, images.tolerance)
        if reason and run.approves:
            drawn.save(kept)
            approved += 1
        elif reason:
            failures.append(f"images: page {number} {reason}")
            _write_difference(run, kept, drawn, changed)
    return failures, approved


def _compare(drawn: Image.Image, kept: Path, tolerance: float) -> tuple[str, Image.Image | None]:
    """Return how a page differs from its approved image, empty if it does not, and its changed pixels."""
    if not kept.exists():
        return f"has no approved image {kept.name}; --approve writes it", None
    with Image.open(kept) as opened:
        approved = opened.convert("RGB")
    if approved.size != drawn.size:
        sizes = " instead of ".join("{} by {}".format(*each.size) for each in (drawn, approved))
        return f"is {sizes} pt", None
    red, green, blue = ImageChops.difference(approved, drawn).split()
    largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    changed = largest.point([255 * (level > _UNSEEN) for level in range(256)])
    pixels = changed.histogram()[255]
    if pixels <= tolerance * drawn.width * drawn.height:
        return "", None
    left, top, right, bottom = changed.getbbox() or (0, 0, 0, 0)
    share = pixels / (drawn.width * drawn.height)
    return (
        f"differs in {share:.4%} of its pixels, from {left}, {top} to {right}, {bottom} pt",
        changed,
    )


def _write_difference(
    run: CaseRun, kept: Path, drawn: Image.Image, changed: Image.Image | None
) -> None:
    """Write a page as it is now, and with its changed pixels in red."""
    if run.differences is None:
        return
    folder = run.differences / kept.parent.relative_to(run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    drawn.save(folder / kept.name)
    if changed is not None:
        shown = Image.blend(drawn, Image.new("RGB", drawn.size, "white"), 0.7)
        shown.paste(_CHANGED, mask=changed)
        shown.save(folder / f"{kept.stem}.changes.png")
