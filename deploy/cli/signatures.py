"""`pressroom sign`: signs a PDF by a PKCS#12 certificate."""

from __future__ import annotations

import argparse

from deploy.cli.output import CommandFailed, print_result, read_file, write_file
from shared import clock

_LIBRARIES = ("pyhanko", "pyhanko_certvalidator", "asn1crypto", "aiohttp")


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
        signer = load_signer(read_file(arguments.cert), _read_password(arguments), now=now)
        signed = sign_pdf(read_file(arguments.file), signer, options, now=now)
    except SigningFailedError as error:
        raise CommandFailed(f"{arguments.file}: {error}") from error
    write_file(output, signed)
    print_result({"output": str(output), "bytes": len(signed)}, as_json=arguments.json)
    return 0


def _read_password(arguments: argparse.Namespace) -> bytes | None:
    if arguments.password_file is None:
        return None
    return read_file(arguments.password_file).partition(b"\n")[0].rstrip(b"\r")
