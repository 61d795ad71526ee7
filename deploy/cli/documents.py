"""`pressroom render` and `pressroom validate`: the engine on files, without server or network."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared import clock

# Only these two commands load the engine, so that `up` stays a small process without ReportLab.
if TYPE_CHECKING:
    from workers.engine.cli import Inputs


def add_commands(commands: Commands) -> None:
    """Add `render` and `validate`."""
    drawing = commands.add_parser("render", help="render a document to PDF", allow_abbrev=False)
    add_inputs(drawing)
    add_sample_option(drawing)
    add_json_option(drawing)
    drawing.add_argument(
        "--draft",
        action="store_true",
        help="with the sample values and the DRAFT watermark, without encryption",
    )
    drawing.add_argument(
        "--invoice",
        action="store_true",
        help="write the XML of the electronic invoice in place of the PDF",
    )
    drawing.add_argument(
        "-o", dest="output", type=Path, metavar="OUT", help="file to write (DOCUMENT.pdf)"
    )
    drawing.set_defaults(run=run_render)
    checking = commands.add_parser(
        "validate", help="print the findings of a document", allow_abbrev=False
    )
    add_inputs(checking)
    add_sample_option(checking)
    add_json_option(checking)
    checking.set_defaults(run=run_validate)


def run_render(arguments: argparse.Namespace) -> int:
    """Render the inputs to a file; on authoring errors print them to stderr and return 1."""
    from workers.engine.cli import print_errors, print_warnings
    from workers.engine.diagnostics import AuthoringError
    from workers.engine.pipeline import render
    from workers.engine.ports import RenderOptions, RenderOutput

    inputs = read_inputs(arguments)
    output_kind = RenderOutput.INVOICE if arguments.invoice else RenderOutput.PDF
    options = RenderOptions(
        clock.now(),
        is_draft=arguments.draft,
        with_sample=arguments.sample,
        output=output_kind,
    )
    try:
        rendered = render(
            inputs.template, inputs.payload, options=options, resources=inputs.resources
        )
    except AuthoringError as error:
        print_errors(error, inputs, sys.stderr)
        return 1
    print_warnings(rendered, inputs, sys.stderr)
    output = arguments.output or _default_output(arguments)
    try:
        output.write_bytes(rendered.pdf)
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}") from error
    result = {"output": str(output), "pages": rendered.pages, "bytes": len(rendered.pdf)}
    print_result(result, as_json=arguments.json)
    return 0


def run_validate(arguments: argparse.Namespace) -> int:
    """Print all findings; return 1 if there are errors."""
    from workers.engine.cli import print_findings, summarize
    from workers.engine.pipeline import validate
    from workers.engine.ports import RenderOptions

    inputs = read_inputs(arguments)
    options = RenderOptions(clock.now(), with_sample=arguments.sample)
    found = validate(inputs.template, inputs.payload, options=options, resources=inputs.resources)
    if arguments.json:
        print_result(found.to_report(), as_json=True)
    else:
        print_findings(found, inputs, sys.stdout)
        print(summarize(found))
    return 1 if found.error_count else 0


def read_inputs(arguments: argparse.Namespace) -> Inputs:
    """Read the files that the arguments of `add_inputs` name.

    Raises:
        CommandFailed: they cannot be combined, or one cannot be read.
    """
    from workers.engine.cli import Folders, InputError, load_inputs

    try:
        return load_inputs(
            document=arguments.document,
            template=arguments.template,
            data=arguments.data,
            markdown=arguments.markdown,
            flow=arguments.flow,
            folders=Folders(arguments.images, arguments.fonts, arguments.templates),
        )
    except InputError as error:
        raise CommandFailed(str(error)) from error


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the files of one render: document, template, data, and folders of images, fonts and templates."""
    parser.add_argument("document", nargs="?", type=Path, metavar="DOCUMENT.xml")
    parser.add_argument(
        "--template", type=Path, metavar="T.xml", help="template that the document overlays"
    )
    parser.add_argument("--data", type=Path, metavar="D.json|D.csv", help="data to merge")
    parser.add_argument("--markdown", type=Path, metavar="F.md", help="text for one of the flows")
    parser.add_argument("--flow", metavar="NAME", help="the flow that --markdown replaces (body)")
    parser.add_argument("--images", type=Path, metavar="DIR", help="image NAME is DIR/NAME.png")
    parser.add_argument(
        "--templates",
        type=Path,
        metavar="DIR",
        help="templates to extend or import: NAME@... is DIR/NAME.xml (default: the template's folder)",
    )
    parser.add_argument("--fonts", type=Path, metavar="DIR", help="font NAME is DIR/NAME.ttf")


def add_sample_option(parser: argparse.ArgumentParser) -> None:
    """Add `--sample`, for commands that make no real document of it."""
    parser.add_argument(
        "--sample", action="store_true", help="with the sample values of the template"
    )


def _default_output(arguments: argparse.Namespace) -> Path:
    named: Path = arguments.document or arguments.template
    # Not DOCUMENT.xml, which may be the document itself.
    return Path(f"{named.stem}-invoice.xml" if arguments.invoice else f"{named.stem}.pdf")
