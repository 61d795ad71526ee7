"""`pressroom lsp`: the language server for editors (LSP over standard input and output)."""

from __future__ import annotations

import argparse

from deploy.cli.output import CommandFailed, Commands


def add_commands(commands: Commands) -> None:
    """Add `lsp`."""
    parser = commands.add_parser(
        "lsp",
        help="language server: completion, hover, findings and formatting of templates",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run_server)


def run_server(_: argparse.Namespace) -> int:
    """Serve until the editor closes the connection."""
    try:
        from deploy.tools.lsp.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise CommandFailed("pressroom lsp needs pygls: pip install 'pressroom[lsp]'") from error
    make_server().start_io()
    return 0
