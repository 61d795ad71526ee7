"""`pressroom render` and `pressroom validate`: the engine alone, on files, without server or network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.findings import SourceFiles, show_findings
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared import clock
from shared.identifiers import IMAGE_NAME
from workers.engine.diagnostics import AuthoringError, Diagnostic
from workers.engine.ports import Payload, PayloadKind, RenderOptions

if TYPE_CHECKING:
    from workers.engine.pipeline import PreparedTemplate

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")
DATA_KINDS = {".json": PayloadKind.JSON, ".csv": PayloadKind.CSV}


def add_commands(commands: Commands) -> None:
    """Add `render` and `validate`."""
    drawing = commands.add_parser("render", help="render a document to PDF", allow_abbrev=False)
    _add_inputs(drawing)
    drawing.add_argument("--draft", action="store_true", help="with the DRAFT mark, unprotected")
    drawing.add_argument(
        "-o", dest="output", type=Path, metavar="OUT.pdf", help="file to write (DOCUMENT.pdf)"
    )
    drawing.set_defaults(run=run_render)
    checking = commands.add_parser(
        "validate", help="print what is wrong with a document", allow_abbrev=False
    )
    _add_inputs(checking)
    checking.set_defaults(run=run_validate)


def run_render(arguments: argparse.Namespace) -> int:
    """Render the inputs to a PDF file; 1 with the findings on stderr when they do not render."""
    from workers.engine.pipeline import render

    inputs = read_inputs(arguments)
    options = RenderOptions(now=clock.now(), is_draft=arguments.draft)
    try:
        rendered = render(inputs.template, inputs.payload, options=options, resources=inputs.images)
    except AuthoringError as error:
        show_findings(error.diagnostics, inputs.sources, to=sys.stderr)
        return 1
    show_findings(rendered.warnings, inputs.sources, to=sys.stderr)
    output: Path = arguments.output or Path(f"{inputs.name}.pdf")
    try:
        output.write_bytes(rendered.pdf)
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}") from error
    result = {"output": str(output), "pages": rendered.pages, "bytes": len(rendered.pdf)}
    print_result(result, as_json=arguments.json)
    return 0


def run_validate(arguments: argparse.Namespace) -> int:
    """Print every finding; 1 when one of them prevents rendering."""
    from workers.engine.pipeline import validate

    inputs = read_inputs(arguments)
    options = RenderOptions(now=clock.now())
    found = validate(inputs.template, inputs.payload, options=options, resources=inputs.images)
    if arguments.json:
        print_result(_report(found.errors, found.warnings), as_json=True)
    else:
        show_findings(found, inputs.sources, to=sys.stdout)
        print(f"{len(found.errors)} errors, {len(found.warnings)} warnings")
    return 1 if found.errors else 0


@dataclass(frozen=True, slots=True)
class FolderImages:
    """Stored images as files: image NAME is NAME.png, NAME.jpg or NAME.jpeg of one folder."""

    folder: Path | None

    def find_image(self, name: str) -> bytes | None:
        """Give the bytes of an image; a name that breaks the naming rule finds nothing."""
        if self.folder is None or not IMAGE_NAME.match(name):
            return None
        files = (self.folder / f"{name}{suffix}" for suffix in IMAGE_SUFFIXES)
        found = next((file for file in files if file.is_file()), None)
        return found.read_bytes() if found else None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the engine is given, and the files it came from, for the findings."""

    name: str
    template: PreparedTemplate | None
    payload: Payload | None
    images: FolderImages
    sources: SourceFiles


def read_inputs(arguments: argparse.Namespace) -> Inputs:
    """Read the files a command names.

    DOCUMENT alone is a complete document; with `--data` or `--markdown` it is their template; with
    `--template` it is laid over that template.

    Raises:
        CommandFailed: the options do not fit together, or a file cannot be read.
    """
    from workers.engine.pipeline import prepare_template

    payloads: list[Path] = [f for f in (arguments.data, arguments.markdown) if f is not None]
    template: Path | None = arguments.template
    if template is None and payloads:
        template = arguments.document
    elif arguments.document is not None:
        payloads.append(arguments.document)
    _check_inputs(arguments, template, payloads)
    payload = payloads[0] if payloads else None
    content = _read(template) if template else None
    body = _read(payload) if payload else None
    return Inputs(
        name=_output_name(arguments),
        template=prepare_template(content) if content is not None else None,
        payload=_payload(arguments, payload, body) if payload and body is not None else None,
        images=FolderImages(arguments.images),
        sources=SourceFiles(
            template=(template, content) if template and content is not None else None,
            payload=(payload, body) if payload and body is not None else None,
        ),
    )


def _output_name(arguments: argparse.Namespace) -> str:
    named: Path = arguments.document or arguments.template
    return named.stem


def _check_inputs(
    arguments: argparse.Namespace, template: Path | None, payloads: list[Path]
) -> None:
    if template is None and not payloads:
        raise CommandFailed("name a DOCUMENT.xml, or a template with --template")
    if len(payloads) > 1:
        names = ", ".join(str(file) for file in payloads)
        raise CommandFailed(f"one of {names} can go over the template, not all of them")
    if arguments.flow is not None and arguments.markdown is None:
        raise CommandFailed(
            f"--flow {arguments.flow} needs --markdown: it names the flow to replace"
        )
    if arguments.images is not None and not arguments.images.is_dir():
        raise CommandFailed(f"--images {arguments.images} is not a folder")


def _payload(arguments: argparse.Namespace, file: Path, body: bytes) -> Payload:
    if file == arguments.markdown:
        return Payload(PayloadKind.MARKDOWN, body, flow=arguments.flow)
    if file == arguments.data:
        return Payload(_data_kind(file), body)
    return Payload(PayloadKind.XML, body)


def _data_kind(file: Path) -> PayloadKind:
    kind = DATA_KINDS.get(file.suffix.lower())
    if kind is None:
        raise CommandFailed(f"--data {file} must be a .json or a .csv file")
    return kind


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error


def _report(errors: Iterable[Diagnostic], warnings: Iterable[Diagnostic]) -> dict[str, object]:
    found = [d.to_finding() for d in errors]
    return {"valid": not found, "errors": found, "warnings": [d.to_finding() for d in warnings]}


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", nargs="?", type=Path, metavar="DOCUMENT.xml")
    parser.add_argument(
        "--template", type=Path, metavar="T.xml", help="template under the document"
    )
    parser.add_argument("--data", type=Path, metavar="D.json|D.csv", help="data to merge")
    parser.add_argument("--markdown", type=Path, metavar="F.md", help="text for one of the flows")
    parser.add_argument("--flow", metavar="NAME", help="the flow that --markdown replaces (body)")
    parser.add_argument(
        "--images", type=Path, metavar="DIR", help="image NAME is DIR/NAME.png or .jpg"
    )
    add_json_option(parser)
