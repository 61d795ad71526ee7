"""`pressroom einvoice check`: checks a received electronic invoice."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result


def add_commands(commands: Commands) -> None:
    """Add `einvoice check`."""
    group = commands.add_parser(
        "einvoice", help="check received electronic invoices", allow_abbrev=False
    )
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    checking = actions.add_parser(
        "check",
        help="check a Factur-X, ZUGFeRD, XRechnung or Peppol file by the rules of EN 16931",
        allow_abbrev=False,
    )
    checking.add_argument("file", type=Path, metavar="INVOICE.pdf|INVOICE.xml")
    add_json_option(checking)
    checking.set_defaults(run=run_check)


def run_check(arguments: argparse.Namespace) -> int:
    """Print each rule that the invoice violates; return 1 if there is one, or if it cannot be read."""
    from workers.engine.invoice_checks import check_external_invoice

    try:
        content = arguments.file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{arguments.file} cannot be read: {error.strerror}") from error
    report = check_external_invoice(content)
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
