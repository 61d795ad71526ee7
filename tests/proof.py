"""`make proof`: public templates and their sample payloads in every profile, held against the clauses of its standards.

Writes deploy/docs/conformance.json, one record a file, and its summary deploy/docs/conformance.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deploy.tools.gallery import OPTIONS
from shared.templates.public import FOLDER
from tests.engine.einvoices import samples
from tests.engine.finish.accessibility_rules import find_violations as find_accessibility_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from workers.engine.cli import LinkedFiles
from workers.engine.diagnostics import AuthoringError
from workers.engine.einvoices import PROFILES, Level, read_invoice, read_record, write_invoice
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import PDF_UA_1, ArchiveProfile, NoResources, Payload, PayloadKind
from workers.rules.judging import Judge

DOCS = Path(__file__).parents[1] / "deploy/docs"
SAMPLES = DOCS.parent / "samples"
STANDARDS = (PDF_UA_1, *ArchiveProfile, *(f"{one} {PDF_UA_1}" for one in ArchiveProfile))
CHECKER = "tests/engine/finish"
Row = dict[str, Any]


def check_template(name: str) -> Iterator[Row]:
    """Yield a record for each standard of a template with its sample, and with its payload."""
    text = (FOLDER / f"{name}.xml").read_text("utf-8")
    sent = Payload(PayloadKind.JSON, (SAMPLES / f"{name}.json").read_bytes())
    for standard in STANDARDS:
        named = re.sub(r'(<document\b[^>]*?)\sprofile="[^"]*"', r"\1", text)
        named = re.sub(r"<document\b", f'<document profile="{standard}"', named, count=1)
        for document, payload in ((name, None), (f"{name}.json", sent)):
            row: Row = {"document": document, "profile": standard, "checker": CHECKER}
            try:
                template = prepare_template(named.encode(), LinkedFiles(FOLDER))
                pdf = render(template, payload, options=OPTIONS, resources=NoResources()).pdf
            except AuthoringError as error:
                yield row | {"verdict": "refused", "rules": [error.diagnostics[0].code]}
                continue
            broken = find_broken(pdf, standard)
            digest = hashlib.sha256(pdf).hexdigest()
            yield row | {
                "verdict": "fails" if broken else "conforms",
                "rules": broken,
                "sha256": digest,
            }


def find_broken(pdf: bytes, standard: str) -> list[str]:
    """Return the clauses of the standards that a file breaks."""
    broken = []
    if PDF_UA_1 in standard:
        broken += find_accessibility_violations(pdf, promises=True)
    if standard.startswith("pdf/a"):
        broken += find_archive_violations(pdf, ArchiveProfile(standard.split(maxsplit=1)[0]).part)
    return broken


def check_invoices() -> Iterator[Row]:
    """Yield a record for the invoice of each profile and syntax, judged by official rule packs."""
    judge = Judge()
    for name, profile in PROFILES.items():
        data = samples.full() if profile.level >= Level.EN16931 else samples.plain("S", 19)
        for syntax in profile.syntaxes:
            content = write_invoice(read_record(data)[0], profile, syntax)
            invoice = read_invoice(content)
            assert invoice is not None
            verdict = invoice.check(judge)
            packs = [f"{one.pack} {one.version} {one.date}".rstrip() for one in verdict.checked_by]
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


def summarise(rows: list[Row], date: str) -> str:
    """Return the page: verdicts by profile, invoices with their rule packs, and what is not claimed."""
    files = [row for row in rows if row["checker"] == CHECKER]
    counted = [
        (
            standard,
            [row["verdict"] for row in files if row["profile"] == standard],
        )
        for standard in STANDARDS
    ]
    table = "\n".join(
        f"| {standard} | {len(found)} | {found.count('conforms')} | {found.count('fails')} | {found.count('refused')} |"
        for standard, found in counted
    )
    invoices = "\n".join(
        f"| {row['document'].removeprefix('invoice ')} | {row['verdict']} | {row['checker'] or 'none'} |"
        for row in rows
        if row["checker"] != CHECKER
    )
    readers = ", ".join(
        f"{name} {version(name)}" for name in ("pikepdf", "pypdf", "pdfminer.six", "pypdfium2")
    )
    return f"""# Conformance

Made by `make proof` on {date}: every public template with its sample and with a payload of its own, in every profile, and an invoice of every
e-invoice profile and syntax. [conformance.json](conformance.json) has each file with its verdict, the clauses that it breaks, its SHA-256 and its checker.

## PDF

The checkers are this repository's own, clause by clause (`tests/engine/finish`, [engine decision 479](../../workers/engine/decisions/0479-conformance-is-checked-by-rules-of-our-own.md)),
and those of tags run over every tagged PDF of the tests. A file that cannot keep its profile is refused with an error, and counted so.

| profile | files | conform | fail | refused |
|---|--:|--:|--:|--:|
{table}

Not claimed: PDF/A-1, PDF/A-4, PDF/UA-2 and WTPDF. Readers of the tests: {readers}.

## Electronic invoices

Judged by the official rule files of their publishers. "Not wholly checked" means that no pack here has all rules of the profile; the packs named found nothing wrong.
The rules that `einvoice` applies itself are compared with the official ones over 5,000 valid and changed invoices (`tests/engine/einvoices/test_agreement.py`).

| profile and syntax | verdict | rule packs |
|---|---|---|
{invoices}
"""


def main() -> None:
    """Check everything, and write the page and the records."""
    names = sorted(path.stem for path in FOLDER.glob("service-*.xml"))
    rows = [row for name in names for row in check_template(name)]
    rows += check_invoices()
    date = datetime.now(UTC).date().isoformat()
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (DOCS / "conformance.json").write_text(f'{{"date": "{date}", "files": [\n{lines}\n]}}\n')
    (DOCS / "conformance.md").write_text(summarise(rows, date))


if __name__ == "__main__":
    main()
