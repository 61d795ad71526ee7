"""`pressroom form extract`: reads the fields of a filled-in form."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result


def add_commands(commands: Commands) -> None:
    """Add `form extract`."""
    group = commands.add_parser("form", help="read filled-in forms", allow_abbrev=False)
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    extracting = actions.add_parser(
        "extract", help="print the names and values of a form's fields", allow_abbrev=False
    )
    extracting.add_argument("file", type=Path, metavar="FORM.pdf")
    add_json_option(extracting)
    extracting.set_defaults(run=run_extract)


def run_extract(arguments: argparse.Namespace) -> int:
    """Print each field and its value.

    Raises:
        CommandFailed: the file is not a PDF with fields that can be read.
    """
    from workers.engine.pdf_pages.form_fields import read_form
    from workers.engine.pdf_pages.objects import UnusablePdfError

    try:
        report = read_form(arguments.file.read_bytes()).to_report()
    except OSError as error:
        raise CommandFailed(f"{arguments.file} cannot be read: {error.strerror}") from error
    except UnusablePdfError as error:
        raise CommandFailed(f"{arguments.file}: {error}. {error.advice}") from error
    values = {each["name"]: each["value"] for each in report["fields"]}
    print_result(report if arguments.json else values, as_json=arguments.json)
    return 0
