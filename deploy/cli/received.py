"""`pressroom einvoice check` and `pressroom form extract`: files received from others."""

from __future__ import annotations

import argparse

from deploy.cli.output import CommandFailed, print_result, read_file
from shared.settings import RuleSettings, read_settings


def run_check(arguments: argparse.Namespace) -> int:
    """Print what official rules find; return 1 if the invoice breaks one, or if it cannot be read."""
    from workers.engine.invoice_checks import check_external_invoice
    from workers.rules.judging import Judge, has_processor, refuse_files

    judge = Judge(read_settings(RuleSettings).rules, refuse_files) if has_processor() else None
    found = check_external_invoice(read_file(arguments.file), judge)
    if found.reason:
        raise CommandFailed(f"{arguments.file}: {found.reason}")
    report = found.to_report()
    status = 1 if report["errors"] else 0
    if arguments.json:
        print_result(report, as_json=True)
        return status
    for one in (*report["errors"], *report["warnings"]):
        place = one["element"] if one["path"] == "/" else one["path"]
        print(f"{one['severity']}: {one['rule']} at {place}: {one['message']}")
    words = {
        True: "valid",
        False: "not valid",
        None: f"not known to be valid: {report.get('note')}",
    }
    print(f"invoice {report.get('number')}: {words[report['valid']]}")
    for pack in report["checked_by"]:
        print(f"checked by {' '.join(text for text in pack.values() if text)}")
    return status


def run_extract(arguments: argparse.Namespace) -> int:
    """Print each field and its value.

    Raises:
        CommandFailed: the file is not a PDF with fields that can be read.
    """
    from workers.engine.pdf_pages import UnusablePdfError, read_form

    try:
        report = read_form(read_file(arguments.file)).to_report()
    except UnusablePdfError as error:
        raise CommandFailed(f"{arguments.file}: {error}. {error.advice}") from error
    values = {each["name"]: each["value"] for each in report["fields"]}
    print_result(report if arguments.json else values, as_json=arguments.json)
    return 0
