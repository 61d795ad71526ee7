"""`pressroom render`, `validate`, `fmt` and `sign`: the engine and pyHanko on files, without a server."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deploy.cli.output import CommandFailed, Result, print_result, read_file, write_file
from shared import clock
from shared.clock import timestamp

# Only these two commands load the engine, so that `up` stays a small process without ReportLab.
if TYPE_CHECKING:
    from workers.engine.local_files import Inputs


def run_render(arguments: argparse.Namespace) -> Result | int:
    """Render the inputs to a file; on authoring errors print them to stderr and return 1."""
    from workers.engine.local_files import render_inputs
    from workers.engine.ports import RenderOptions, RenderOutput

    inputs = read_inputs(arguments)
    output_kind = RenderOutput.INVOICE if arguments.invoice else RenderOutput.PDF
    options = RenderOptions(
        clock.now(), is_draft=arguments.draft, with_sample=arguments.sample, output=output_kind
    )
    rendered = render_inputs(inputs, options)
    if rendered is None:
        return 1
    output = arguments.output or _default_output(arguments)
    write_file(output, rendered.pdf)
    return {"output": str(output), "pages": rendered.pages, "bytes": len(rendered.pdf)}


def run_validate(arguments: argparse.Namespace) -> int:
    """Print all findings; return 1 if there are errors."""
    from workers.engine.local_files import print_findings, summarize
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
    """Read the files that the arguments name.

    Raises:
        InputError: they cannot be combined, or one cannot be read.
    """
    from workers.engine.local_files import FolderResources, load_inputs

    return load_inputs(
        document=arguments.document,
        template=arguments.template,
        data=arguments.data,
        markdown=arguments.markdown,
        flow=arguments.flow,
        resources=FolderResources(arguments.images, arguments.fonts),
        templates=arguments.templates,
    )


def _default_output(arguments: argparse.Namespace) -> Path:
    named: Path = arguments.document or arguments.template
    # Not DOCUMENT.xml, which may be the document itself.
    return Path(f"{named.stem}-invoice.xml" if arguments.invoice else f"{named.stem}.pdf")


_STANDARD_INPUT: Final = Path("-")


def run_format(arguments: argparse.Namespace) -> int:
    """Format files in place, or standard input to standard output; return 1 if a file cannot be formatted or, with --check, would change."""
    codes = [_format(path, is_checked=arguments.check) for path in arguments.files]
    return max(codes)


def _format(path: Path, *, is_checked: bool) -> int:
    from workers.engine.syntax.formatter import FormattingError, format_template

    source = sys.stdin.buffer.read() if path == _STANDARD_INPUT else read_file(path)
    try:
        formatted = format_template(source)
    except FormattingError as error:
        place = error.diagnostic.location
        at = "" if place is None else f":{place.span.line_start}:{place.span.column_start}"
        print(f"{path}{at}: error: {error}", file=sys.stderr)
        return 1
    if is_checked:
        if formatted != source:
            print(f"{path} would be formatted")
        return int(formatted != source)
    if path == _STANDARD_INPUT:
        sys.stdout.buffer.write(formatted)
    elif formatted != source:
        _write(path, formatted)
        print(f"{path} formatted")
    return 0


def _write(path: Path, text: bytes) -> None:
    """Replace the file atomically, and keep its mode."""
    beside = path.with_name(f".{path.name}.fmt")
    try:
        beside.write_bytes(text)
        beside.chmod(path.stat().st_mode)
        beside.replace(path.resolve())
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error


_LIBRARIES = ("pyhanko", "pyhanko_certvalidator", "pkcs11", "asn1crypto", "aiohttp")


@contextmanager
def _signatures(file: Path) -> Iterator[None]:
    """Report what is wrong with a file, a certificate, or the installation.

    Raises:
        CommandFailed: the extra is not installed, or the block raised SigningFailedError or DeviceFailedError.
    """
    try:
        from workers.signer.signing import DeviceFailedError, SigningFailedError
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _LIBRARIES:
            raise
        raise CommandFailed("signatures need pyHanko: .venv/bin/pip install '.[sign]'") from error
    try:
        yield
    except (SigningFailedError, DeviceFailedError) as error:
        raise CommandFailed(f"{file}: {error}") from error


def run_sign(arguments: argparse.Namespace) -> Result:
    """Write the signed PDF."""
    output = arguments.output or arguments.file.with_name(f"{arguments.file.stem}-signed.pdf")
    with _signatures(arguments.file):
        from workers.signer import signing

        trust, now = arguments.trust, clock.now()
        options = signing.SignatureOptions(
            arguments.field,
            arguments.reason,
            arguments.location,
            arguments.timestamp_url,
            () if trust is None else signing.read_certificates(read_file(trust)),
        )
        cert: Path = arguments.cert
        opened = signing.open_key(cert, read_file(cert), _read_password(arguments))
        opened.check(now)
        signed = signing.sign_pdf(read_file(arguments.file), opened.signer, options, now=now)
    write_file(output, signed)
    return {"output": str(output), "bytes": len(signed)}


def run_verify(arguments: argparse.Namespace) -> int:
    """Print each signature of a PDF; return 1 if there is none, or one is not intact or not trusted."""
    with _signatures(arguments.file):
        from workers.signer import signing, verifying

        logging.getLogger("pyhanko").setLevel(logging.CRITICAL)  # noqa: TID251 - tracebacks
        trust = arguments.trust
        roots = () if trust is None else signing.read_certificates(read_file(trust))
        found = verifying.verify_pdf(read_file(arguments.file), roots)
    shown = [
        asdict(one) | {"signed_at": one.signed_at and timestamp(one.signed_at)} for one in found
    ]
    if arguments.json:
        print_result({"signatures": shown}, as_json=True)
    else:
        for one in shown:
            print_result(one, as_json=False)
    is_good = all(one.is_intact and one.is_trusted is not False for one in found)
    return 0 if found and is_good else 1


def _read_password(arguments: argparse.Namespace) -> bytes | None:
    if arguments.password_file is None:
        return None
    return read_file(arguments.password_file).partition(b"\n")[0].rstrip(b"\r")
