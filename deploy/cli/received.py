"""`pressroom einvoice check` and `pressroom form extract`: files received from others."""

from __future__ import annotations

import argparse

from deploy.cli.output import CommandFailed, print_result, read_file


def run_check(arguments: argparse.Namespace) -> int:
    """Print each rule that the invoice violates; return 1 if there is one, or if it cannot be read."""
    from workers.engine.invoice_checks import check_external_invoice

    report = check_external_invoice(read_file(arguments.file))
    if arguments.json:
        print_result(report.to_report(), as_json=True)
        return 0 if report.is_valid else 1
    if report.reason:
        raise CommandFailed(f"{arguments.file}: {report.reason}")
    for one in report.violations:
        print(f"{one.rule} at {one.element if one.path == '/' else one.path}: {one.message}")
    count = len(report.violations)
    print(
        f"invoice {report.number} ({report.profile}): {count or 'no'} broken rule{'s' * (count != 1)}"
    )
    print(f"checked by {', '.join(f'{one.name} {one.version}' for one in report.checked_by)}")
    return 0 if report.is_valid else 1


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
