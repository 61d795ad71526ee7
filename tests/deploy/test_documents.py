"""`pressroom render` and `validate` work on files alone and point at what is wrong."""

import io
import json

import pikepdf
import pytest

from deploy.cli.main import main
from deploy.embedded.demo.show import DOCUMENTS


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def pages(path):
    with pikepdf.open(io.BytesIO(path.read_bytes())) as opened:
        return len(opened.pages)


def test_a_complete_document_becomes_a_pdf_of_its_name(run, tmp_path):
    code, out, err = run("render", DOCUMENTS / "report.xml", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["output"] == "report.pdf"
    assert told["pages"] == pages(tmp_path / "report.pdf") == 2
    assert told["bytes"] == (tmp_path / "report.pdf").stat().st_size


@pytest.mark.parametrize(
    "inputs",
    [
        ("--template", DOCUMENTS / "invoice.xml", "--data", DOCUMENTS / "invoice.json"),
        (DOCUMENTS / "invoice.xml", "--data", DOCUMENTS / "invoice.json"),
        (DOCUMENTS / "letter.xml", "--markdown", DOCUMENTS / "letter.md", "--flow", "body"),
        ("--template", DOCUMENTS / "letter.xml"),
    ],
)
def test_a_template_is_filled_from_files(run, tmp_path, inputs):
    code, _, err = run("render", *inputs, "--images", DOCUMENTS, "-o", "out.pdf")
    assert (code, err) == (0, "")
    assert pages(tmp_path / "out.pdf") == 1


def test_sample_values_are_used_when_asked_for_and_in_drafts(run, tmp_path):
    (tmp_path / "t.xml").write_text(
        '<document><data><sample>{"number": "R-0"}</sample><field name="number" required="true"/></data>'
        "<flow><p>{{ number }}</p></flow></document>"
    )
    assert run("render", "t.xml")[0] == run("validate", "t.xml")[0] == 1
    assert run("render", "t.xml", "--sample")[0] == run("validate", "t.xml", "--sample")[0] == 0
    assert run("render", "t.xml", "--draft")[0] == 0


def test_an_error_is_printed_with_its_line_and_no_file_is_written(run, tmp_path):
    (tmp_path / "bad.xml").write_text("<document>\n <flow><para>Hi</para></flow>\n</document>")
    code, out, err = run("render", "bad.xml")
    assert (code, out) == (1, "")
    assert err.startswith("bad.xml:2:8: error: ")
    assert " <flow><para>Hi</para></flow>\n      |        ^^^^" in err
    assert not (tmp_path / "bad.pdf").exists()


def test_validate_prints_every_finding_and_fails_on_errors(run, tmp_path):
    (tmp_path / "bad.xml").write_text("<document><flow><para/><p colour='red'/></flow></document>")
    code, out, _ = run("validate", "bad.xml")
    assert code == 1
    assert out.endswith("2 errors, 0 warnings\n")
    code, out, _ = run("validate", "bad.xml", "--json")
    assert code == 1
    found = json.loads(out)
    assert not found["valid"]
    assert [finding["source"]["tagName"] for finding in found["errors"]] == ["para", "p"]
    assert run("validate", DOCUMENTS / "report.xml")[0] == 0


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "a/b", "%2e%2e"])
def test_an_image_name_reaches_no_file_outside_its_folder(run, tmp_path, name):
    (tmp_path / "images").mkdir()
    (tmp_path / "secret.png").write_bytes((DOCUMENTS / "logo.png").read_bytes())
    (tmp_path / "d.xml").write_text(f"<document><flow><img src='{name}' alt=''/></flow></document>")
    code, _, err = run("render", "d.xml", "--images", "images")
    assert code == 1
    assert "d.xml:1:17: error: " in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name a document"),
        (("none.xml",), "none.xml cannot be read"),
        (("d.xml", "--data", "d.txt"), "d.txt"),
        (("d.xml", "--data", "d.json", "--markdown", "d.md"), "only one of"),
        (("d.xml", "--flow", "body"), "--flow body"),
        (("d.xml", "--images", "none"), "--images none is not a folder"),
        (("d.xml", "-o", "none/out.pdf"), "none/out.pdf cannot be written"),
    ],
)
def test_inputs_that_do_not_fit_together_are_named(run, tmp_path, arguments, told):
    for name in ("d.xml", "d.json", "d.md", "d.txt"):
        (tmp_path / name).write_text("<document><flow><p>Hi</p></flow></document>")
    code, out, err = run("render", *arguments)
    assert (code, out) == (1, "")
    assert told in err


@pytest.mark.long
def test_validate_and_render_print_the_number_of_omitted_findings(run, tmp_path):
    skipped = "<h1>a</h1><h3>b</h3>" * 210
    (tmp_path / "long.xml").write_text(f"<document><flow>{skipped}</flow></document>")
    code, out, _ = run("validate", "long.xml")
    assert (code, out.splitlines()[-1]) == (0, "0 errors, 210 warnings (10 not shown)")
    code, out, _ = run("validate", "long.xml", "--json")
    assert json.loads(out)["leftOut"] == {"errors": 0, "warnings": 10}
    _, _, err = run("render", "long.xml")
    assert err.endswith("10 more warnings not shown\n")
    wrong = "".join(f"<p colour='red'>{i}</p>" for i in range(201))
    (tmp_path / "long.xml").write_text(f"<document><flow>{wrong}</flow></document>")
    code, _, err = run("render", "long.xml")
    assert code == 1
    assert err.endswith("1 more error not shown\n")
