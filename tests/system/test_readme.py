"""The README's examples of calls, the command and the client, and the tutorials, work as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pikepdf
import pytest
from pypdf import PdfReader

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.loopback import free_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCS = ROOT / "deploy/docs"
BLOCK = re.compile(r"^([^\n]*)\n[ >]*```(\w*)\n(.*?)```", re.MULTILINE | re.DOTALL)
_, DRAFT, INVOICE, TEMPLATE, BATCH = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def farm(tmp_path_factory):
    """Run a farm that delivers to this machine, as the tutorial about deliveries wants it."""
    environment = {"PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true"}
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture
def run(farm, account, tmp_path):
    """Provide a function that runs a program in a new folder, with the settings that `make run` prints."""
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_URL": farm.record.url,
        "PRESSROOM_KEY": account.api_key,
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_first_invoices_of_the_readme_are_sent(run, tmp_path) -> None:
    for call, name in ((DRAFT, "draft.pdf"), (INVOICE, "invoice.pdf")):
        run("sh", "-ec", call)
        with pikepdf.open(tmp_path / name) as pdf:
            assert len(pdf.pages) == 1


def test_the_template_of_the_readme_is_stored_and_rendered(run, tmp_path) -> None:
    (template,) = re.findall(r"```xml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/invoice.xml").write_text(template)
    run("sh", "-ec", TEMPLATE)
    with pikepdf.open(tmp_path / "invoice.pdf") as pdf:
        assert str(pdf.docinfo["/Title"]) == "Invoice 2026-0043"


def test_the_batch_of_the_readme_runs(run, tmp_path) -> None:
    run("sh", "-ec", BATCH.replace("seq 1000", "seq 20"))
    with pikepdf.open(tmp_path / "invoices.pdf") as pdf, pdf.open_outline() as outline:
        assert len(pdf.pages) == len(outline.root) == 20


def test_the_python_of_the_readme_runs(run, tmp_path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    told = run(sys.executable, "-c", program.replace("range(1000)", "range(40)"))
    assert "40 of 40" in told
    assert (tmp_path / "invoice.pdf").read_bytes().startswith(b"%PDF")
    with zipfile.ZipFile(tmp_path / "invoices.zip") as archive:
        assert sum(name.endswith(".pdf") for name in archive.namelist()) == 40


TUTORIALS = [
    ("first-invoice", "invoice-1.pdf", ["Möbel Hansen & Söhne", "24103 Kiel", "1,608.00"]),
    ("first-invoice.de", "invoice-1.pdf", ["Möbel Hansen & Söhne", "24103 Kiel", "1,608.00"]),
    ("night-batch", "letters/001.pdf", ["Rostock", "Hamburg", "Kiel"]),
    ("from-html", "invoice.pdf", ["Canal Bicycles", "515.50"]),
    ("from-word", "letters.pdf", ["Ms Adler", "31 December 2026", "Mr Brandt", "1,250.50"]),
    ("delivery", "received/invoices/*/*/000002.pdf", ["2026-3"]),
]


@pytest.mark.parametrize(("page", "file", "shown"), TUTORIALS)
def test_a_tutorial_runs_as_pasted(page, file, shown, run, tmp_path) -> None:
    text = (ROOT / f"deploy/docs/{page}.md").read_text().replace(":9010", f":{free_port()}")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    run("sh", "-ec", "trap '[ -z $! ] || kill $!' EXIT\n" + "\n".join(blocks))
    [made] = tmp_path.glob(file)
    text = "\n".join(each.extract_text() for each in PdfReader(made).pages)
    places = [text.find(each) for each in shown]
    assert -1 not in places
    assert places == sorted(places)


def read_blocks(page: Path) -> list[tuple[str, str, str]]:
    """Return the line above each block of code of a page, its language and its text."""
    blocks = BLOCK.findall(page.read_text())
    assert 2 * len(blocks) == len(re.findall(r"^[ >]*```", page.read_text(), re.MULTILINE)), page
    return blocks


def test_the_calls_of_the_reference_run_as_pasted(run, account, tmp_path) -> None:
    source = (
        b"<document><flow><p>To {{ to.zip }} {{ to.country }}, {{ customer }}</p></flow></document>"
    )
    made = account.store_template(source)
    slug = json.dumps({"slug": "letter", "template_id": made}).encode()
    headers = {"Content-Type": "application/json"}
    assert account.request("POST", "/v2/slugs", slug, headers=headers).status == 201
    letters = [{"to": {"country": "DE", "zip": str(n)}, "customer": n} for n in (24103, 10115)]
    (tmp_path / "letters.ndjson").write_text("\n".join(map(json.dumps, letters)))
    blocks = read_blocks(DOCS / "api.md")
    calls = [
        text for above, language, text in blocks if language == "sh" and "not run" not in above
    ]
    told = run("sh", "-ec", "\n".join(calls))
    assert '"image/png"' in told
    [made], [index] = tmp_path.glob("*.pdf"), tmp_path.glob("*.csv")
    assert [each.extract_text()[:8] for each in PdfReader(made).pages[::2]] == [
        "To 10115",
        "To 24103",
    ]
    assert index.read_text().count("\n") == 3


@pytest.mark.parametrize(
    "page",
    [*DOCS.glob("*.md"), *(ROOT / "deploy").glob("*/README.md")],
    ids=lambda page: str(page.relative_to(ROOT / "deploy")),
)
def test_the_commands_of_a_page_run_in_a_test_or_the_page_says_why_not(page) -> None:
    """A block without a language has the usage of commands, which tests/deploy/test_documented_commands.py checks."""
    for above, language, text in read_blocks(page):
        if language == "sh" and page.stem not in {"api", *(name for name, *_ in TUTORIALS)}:
            assert re.match(r" *<!-- not run: .+ -->$", above), text
        if not language:
            assert re.match(r" *pressroom ", text), text
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?<=`make )[a-z-]+", page.read_text())) <= targets
