"""`pressroom messages`: checks the translations of a template, and exports and imports PO files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.output import CommandFailed, print_result, read_file, write_file

if TYPE_CHECKING:
    from workers.engine.tree.expressions.messages import MessageCatalog


def run_check(arguments: argparse.Namespace) -> int:
    """Print missing and unknown keys; return 1 if there are any."""
    from deploy.cli.translations import report_coverage

    messages = _read_messages(arguments.document)
    found = report_coverage(messages)
    if arguments.json:
        print_result(found, as_json=True)
        return 1 if found["gaps"] or found["unknown"] else 0
    print(f"{len(messages.keys)} keys in {', '.join(messages.languages) or 'no language'}")
    for gap in found["gaps"]:
        form = f" for {', '.join(gap['categories'])}" if gap["categories"] else ""
        print(f'{gap["lang"]}: "{gap["key"]}" is missing{form}')
    for key in found["unknown"]:
        print(f'"{key}" is used, but no language defines it')
    for key in found["unused"]:
        print(f'"{key}" is not used')
    return 1 if found["gaps"] or found["unknown"] else 0


def run_extract(arguments: argparse.Namespace) -> int:
    """Write the keys and texts of one language as a PO file."""
    from deploy.cli.translations import write_translations

    messages = _read_messages(arguments.document)
    try:
        written = write_translations(messages, arguments.lang)
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    _write(written, arguments.output)
    return 0


def run_import(arguments: argparse.Namespace) -> int:
    """Write the document with the texts of a PO file merged into its language."""
    from deploy.cli.translations import merge_translations, read_translations

    try:
        lang, texts = read_translations(read_file(arguments.translations))
    except ValueError as error:
        raise CommandFailed(f"{arguments.translations}: {error}") from error
    try:
        changed = merge_translations(read_file(arguments.document), lang, texts)
    except ValueError as error:
        raise CommandFailed(f"{arguments.document}: {error}") from error
    _write(changed, arguments.output)
    return 0


def _read_messages(path: Path) -> MessageCatalog:
    """Return the compiled messages of a document, with the keys that its expressions use."""
    from workers.engine.cli import LinkedFiles
    from workers.engine.diagnostics import Severity
    from workers.engine.pipeline import prepare_template

    template = prepare_template(read_file(path), LinkedFiles(path.parent))
    if template.compiled is None:
        told = [one.text for one in template.source.findings if one.severity is Severity.ERROR]
        raise CommandFailed(f"{path} cannot be read: {told[0] if told else 'it is no document'}")
    return template.compiled.messages


def _write(written: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(written)
    else:
        write_file(output, written)
