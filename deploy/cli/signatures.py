"""`pressroom sign`: signs a PDF by a PKCS#12 certificate."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared import clock

_LIBRARIES = ("pyhanko", "pyhanko_certvalidator", "asn1crypto", "aiohttp")


def add_commands(commands: Commands) -> None:
    """Add `sign`."""
    parser = commands.add_parser(
        "sign", help="sign a PDF by a certificate (PAdES)", allow_abbrev=False
    )
    parser.add_argument("file", type=Path, metavar="FILE.pdf")
    parser.add_argument(
        "--cert", type=Path, required=True, metavar="CERT.p12", help="certificate and key, PKCS#12"
    )
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="file whose first line is the password"
    )
    parser.add_argument(
        "--field", metavar="NAME", help="signature field; the only empty one, or a new one"
    )
    parser.add_argument("--reason", metavar="TEXT", help="reason that viewers show")
    parser.add_argument("--location", metavar="TEXT", help="place that viewers show")
    parser.add_argument(
        "--timestamp-url",
        metavar="URL",
        help="time-stamp authority (RFC 3161) that attests the time of the signature",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: FILE-signed.pdf"
    )
    add_json_option(parser)
    parser.set_defaults(run=run_sign)


def run_sign(arguments: argparse.Namespace) -> int:
    """Write the signed PDF.

    Raises:
        CommandFailed: the extra is not installed, or the PDF or the certificate cannot be used, or
            there is no time stamp.
    """
    try:
        from workers.signer.signing import (
            SignatureOptions,
            SigningFailedError,
            load_signer,
            sign_pdf,
        )
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _LIBRARIES:
            raise
        raise CommandFailed(
            "pressroom sign needs pyHanko: pip install 'pressroom[sign]'"
        ) from error
    options = SignatureOptions(
        arguments.field, arguments.reason, arguments.location, arguments.timestamp_url
    )
    output = arguments.output or arguments.file.with_name(f"{arguments.file.stem}-signed.pdf")
    try:
        now = clock.now()
        signer = load_signer(_read(arguments.cert), _read_password(arguments), now=now)
        signed = sign_pdf(_read(arguments.file), signer, options, now=now)
    except SigningFailedError as error:
        raise CommandFailed(f"{arguments.file}: {error}") from error
    try:
        output.write_bytes(signed)
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}") from error
    print_result({"output": str(output), "bytes": len(signed)}, as_json=arguments.json)
    return 0


def _read_password(arguments: argparse.Namespace) -> bytes | None:
    if arguments.password_file is None:
        return None
    return _read(arguments.password_file).partition(b"\n")[0].rstrip(b"\r")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
