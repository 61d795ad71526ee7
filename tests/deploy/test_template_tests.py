"""`pressroom test`: what the cases of templates find, and what they pass over."""

import json
import re
import shutil
import subprocess
import sys
from io import BytesIO
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from deploy.cli.main import main
from deploy.cli.output import CommandFailed
from deploy.cli.template_cases import pack_cases, unpack_cases
from deploy.embedded.demo.show import DOCUMENTS
from deploy.tools.template_tests import CaseRun, run_case, write_junit

PUBLIC, SAMPLES = Path("shared/templates/public_templates"), Path("deploy/samples")
LINES = [f"Clause {number} of the terms" for number in range(25)]
ROWS = [{"name": f"Item {number}", "amount": 100 + number * 3.5} for number in range(25)]
SHIFTS = [3] * 25


def write_template(lines=LINES, shifts=SHIFTS):
    clauses = "".join(
        f'<p margin-top="{shift}pt" margin-bottom="0">{line}</p>'
        for line, shift in zip(lines, shifts[: len(lines)], strict=True)
    )
    return (
        '<document><page size="A3"/><flow><table><tr for="row in rows"><td>{{ row.name }}</td>'
        f"<td>{{{{ row.amount }}}}</td></tr></table><p margin-bottom='0'>Terms</p>{clauses}</flow></document>"
    )


@pytest.fixture
def write(tmp_path):
    """Write a template and one case of it; return the file of the case."""

    def write(template=None, rows=ROWS, **expect):
        (tmp_path / "list.xml").write_text(template or write_template())
        case = {"template": "list", "data": {"rows": rows}, "expect": expect}
        file = tmp_path / "all.case.json"
        file.write_text(json.dumps(case))
        return file

    return write


def seeded_changes():
    for at in range(25):
        shifts = [*SHIFTS[:at], 4, *SHIFTS[at + 1 :]]
        yield f"shift {at}", write_template(shifts=shifts), ROWS
        yield f"cut {at}", write_template([*LINES[:at], *LINES[at + 1 :]]), ROWS
        yield f"lost {at}", write_template(), [*ROWS[:at], *ROWS[at + 1 :]]
        changed = ROWS[at] | {"amount": ROWS[at]["amount"] + 0.5}
        yield f"sum {at}", write_template(), [*ROWS[:at], changed, *ROWS[at + 1 :]]


def test_a_hundred_seeded_changes_are_found_and_the_same_is_the_same(write, tmp_path):
    file = write(images=True)
    assert run_case(file, CaseRun(tmp_path, approves=True)).approved == 1
    changes = list(seeded_changes())
    assert len(changes) == 100
    for name, template, rows in changes:
        result = run_case(write(template, rows, images=True), CaseRun(tmp_path))
        assert any("of its pixels" in each for each in result.failures), name
        if name.endswith(("5", "0")):
            assert run_case(write(images=True), CaseRun(tmp_path)).has_passed


@pytest.mark.long
def test_no_unchanged_render_of_a_thousand_is_a_false_alarm(tmp_path):
    for template in PUBLIC.glob("*.xml"):
        shutil.copy(template, tmp_path)
        data = SAMPLES.resolve() / f"{template.stem}.json"
        case = {"template": template.stem, "expect": {"images": True}}
        case |= {"data": json.loads(data.read_text())} if data.exists() else {}
        (tmp_path / f"{template.stem}.case.json").write_text(json.dumps(case))

    def run(*options):
        command = [sys.executable, "-m", "deploy.cli.main", "test", str(tmp_path), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("--approve").returncode == 0
    renders = 0
    while renders < 1000:  # each time by other processes, with other hashes
        ended = run()
        assert ended.returncode == 0, ended.stdout
        renders += int(re.search(r"^(\d+) of \1 cases", ended.stdout, re.MULTILINE)[1])


@pytest.mark.parametrize(
    ("expect", "failures"),
    [
        ({"pages": 1, "text": ["Item 24 184"], "no-text": ["Item 25"]}, []),
        ({"pages": 2}, ["pages: there are 1, not 2"]),
        ({"text": ["Item 25"]}, ["text: 'Item 25' is not on any page"]),
        ({"no-text": [{"text": "Item 3", "page": 1}]}, ["no-text: 'Item 3' is on page 1"]),
        ({"text": [{"text": "Item 3", "page": 2}]}, ["text: 'Item 3' is not on page 2"]),
        ({"findings": ["expected"]}, ["findings: there is no expected"]),
        ({"images": {"pages": [2]}}, ["images: there is no page 2"]),
        ({"einvoice": {"number": "R-1"}}, ["einvoice: the PDF contains no file"]),
    ],
)
def test_a_case_says_what_differs(write, tmp_path, expect, failures):
    found = run_case(write(**expect), CaseRun(tmp_path)).failures
    assert len(found) == len(failures)
    assert all(text.startswith(part) for text, part in zip(found, failures, strict=True)), found


def test_errors_of_a_document_are_failures_unless_they_are_expected(write, tmp_path):
    bad = "<document><flow><para/></flow></document>"
    (failure,) = run_case(write(bad), CaseRun(tmp_path)).failures
    code = failure.rpartition("[")[2].rstrip("]")
    assert run_case(write(bad, findings=[code]), CaseRun(tmp_path)).has_passed


def test_a_tolerance_lets_a_share_of_the_pixels_differ(write, tmp_path):
    run_case(write(images=True), CaseRun(tmp_path, approves=True))
    changed = [ROWS[0] | {"name": "item 0"}, *ROWS[1:]]
    for tolerance, passes in ((0.0, False), (0.001, True)):
        file = write(rows=changed, images={"tolerance": tolerance})
        assert run_case(file, CaseRun(tmp_path)).has_passed is passes


def test_terms_of_the_invoice_are_compared_by_their_path(tmp_path):
    shutil.copy("tests/golden/cases/einvoice.xml", tmp_path)
    file = tmp_path / "invoice.case.json"
    terms = {
        "number": "2026-0042",
        "lines.0.name": "Drill",
        "lines.1.netAmount": 20,
        "lines.2.id": 3,
    }
    file.write_text(json.dumps({"template": "einvoice", "expect": {"einvoice": terms}}))
    assert run_case(file, CaseRun(tmp_path)).failures == (
        "einvoice: lines.0.name is Bohrer, not Drill",
        "einvoice: lines.2.id is missing, not 3",
    )


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({"template": "nothing"}, "template: there is no"),
        ({"template": "list", "expect": {"txt": []}}, "unknown field `txt`"),
        ({"template": "list", "data": "rows.toml"}, "must end with one of .json"),
        ({"template": "list", "data": "missing.json"}, "No such file"),
    ],
)
def test_an_unusable_case_is_an_error_with_its_reason(write, tmp_path, case, reason):
    file = write()
    file.write_text(json.dumps(case))
    result = run_case(file, CaseRun(tmp_path))
    assert reason in (result.error or "")
    parsed = ElementTree.fromstring(write_junit([result], 1.0))
    assert reason in parsed.find("testsuite/testcase/error").get("message")


def test_the_command_approves_compares_and_writes_junit(tmp_path, capsys):
    for name in ("invoice.xml", "invoice.json"):
        shutil.copy(DOCUMENTS / name, tmp_path)
    for number in range(3):
        case = {"template": "invoice", "data": "invoice.json", "expect": {"images": True}}
        (tmp_path / f"case-{number}.case.json").write_text(json.dumps(case))

    def run(*options):
        code = main(["test", str(tmp_path), "--images", str(DOCUMENTS), "--jobs", "1", *options])
        return code, capsys.readouterr().out

    code, out = run()
    assert (code, out.count("has no approved image")) == (1, 3)
    assert run("--approve")[1].endswith("3 images approved\n")
    data = tmp_path / "invoice.json"
    junit, differences = tmp_path / "junit.xml", tmp_path / "differences"
    assert run("--junit", str(junit))[0] == 0
    assert ElementTree.parse(junit).find("testsuite").get("failures") == "0"
    data.write_text(data.read_text().replace("149.90", "149.91"))
    code, _ = run("--junit", str(junit), "--differences", str(differences))
    assert code == 1
    assert len(ElementTree.parse(junit).findall("testsuite/testcase/failure")) == 3
    written = chain.from_iterable((f"case-{n}.1.changes.png", f"case-{n}.1.png") for n in range(3))
    assert sorted(file.name for file in differences.iterdir()) == sorted(written)


def test_a_folder_without_cases_is_refused(tmp_path, capsys):
    assert main(["test", str(tmp_path)]) == 1
    assert "has no cases" in capsys.readouterr().err


def test_a_folder_of_cases_is_packed_the_same_everywhere_and_unpacked(tmp_path):
    folder = tmp_path / "note"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "logo.png").write_bytes(b"png")
    assert pack_cases(folder) is None  # it has no case
    assert pack_cases(tmp_path / "missing") is None
    (folder / "one.case.json").write_text("{}")
    (folder / ".DS_Store").write_text("")
    packed = pack_cases(folder)
    (folder / "one.case.json").touch()
    assert pack_cases(folder) == packed
    unpack_cases(packed, tmp_path / "copy")
    assert pack_cases(tmp_path / "copy") == packed
    for broken in (b"PK\x03\x04", packed[:40]):
        with pytest.raises(CommandFailed, match="cannot be unpacked"):
            unpack_cases(broken, tmp_path / "other")


def test_cases_are_not_unpacked_above_their_folder(tmp_path):
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("../../escaped.case.json", "{}")
    unpack_cases(buffer.getvalue(), tmp_path / "a" / "b")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a" / "b" / "escaped.case.json").exists()
