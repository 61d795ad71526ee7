"""`pressroom preview` and `pressroom lsp`: pages of local files in a browser, and the language server."""

from __future__ import annotations

import argparse
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.documents import read_inputs
from deploy.cli.output import CommandFailed

if TYPE_CHECKING:
    from deploy.tools.preview.server import PreviewServer


def run_preview(arguments: argparse.Namespace) -> None:
    """Serve the pages on loopback until interrupted; files that cannot be combined are an error."""
    with make_server(arguments) as server:
        print(f"{server.title}: {server.url} (Ctrl-C stops)", flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stop)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def make_server(arguments: argparse.Namespace) -> PreviewServer:
    """Return the server of the files that the arguments name."""
    from deploy.tools.preview.drawing import LocalPages, WatchedFiles
    from deploy.tools.preview.server import PreviewServer

    read_inputs(arguments)
    named = (arguments.document, arguments.template, arguments.data, arguments.markdown)
    files: tuple[Path, ...] = tuple(path for path in named if path is not None)
    # Templates that others extend or import lie beside the file unless a folder is given.
    linked = arguments.templates or files[0].parent
    folders = [path for path in (arguments.images, arguments.fonts, linked) if path]

    pages = LocalPages(partial(read_inputs, arguments), WatchedFiles(files, folders))
    try:
        return PreviewServer(pages, title=files[0].name, port=arguments.port)
    except (OSError, OverflowError) as error:
        raise CommandFailed(f"port {arguments.port} cannot be used: {error}") from error


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def run_language_server(_: argparse.Namespace) -> None:
    """Serve LSP over standard input and output until the editor closes the connection."""
    try:
        from deploy.tools.lsp.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise CommandFailed("pressroom lsp needs pygls: .venv/bin/pip install '.[lsp]'") from error
    make_server().start_io()
