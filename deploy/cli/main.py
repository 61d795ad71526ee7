"""The `pressroom` command: one file per group of commands, one exit code, errors on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

# The module of each command; a new command is an entry, and a module with `add_commands`. Only the module of the given command is loaded: all of them take a second,
# most of it for parts of the farm that `render` or `batch` never use.
_MODULES: Final = {
    "up": "up",
    "status": "status",
    "account": "accounts",
    "key": "keys",
    "ledger": "ledger",
    "job": "jobs",
    "queue": "queues",
    "shards": "shards",
    "render": "documents",
    "validate": "documents",
    "preview": "preview",
    "einvoice": "invoices",
    "form": "forms",
    "sign": "signatures",
    "fmt": "formatting",
    "lsp": "language_server",
    "messages": "messages",
    "batch": "batch",
    "migrate": "migrate",
    "backup": "backup",
    "restore": "backup",
    "demo": "demo",
}
# Exceptions that are printed as one line, by their module.
EXPECTED_ERRORS: Final = {
    "deploy.cli.output": "CommandFailed",
    "deploy.embedded.demo.client": "DemoFailed",
    "deploy.embedded.data_folder": "FolderInUse",
    "deploy.embedded.launch": "NotReady",
    "deploy.embedded.supervisor": "FarmStartFailed",
    "shared.db.migrate": "UnknownRevision",
    "shared.errors": "ServiceError",
    "shared.settings": "WrongSetting",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failed or invalid input, 2 wrong usage."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["--version"]:
        return _print_version()
    parsed = build_parser(given[0] if given else None).parse_args(given)
    try:
        code: int = parsed.run(parsed)
    except Exception as failure:
        if not _is_expected_error(failure):
            raise
        print(f"pressroom: {failure}", file=sys.stderr)
        return 1
    return code


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of a command, or of all commands if it is unknown."""
    parser = argparse.ArgumentParser(
        prog="pressroom",
        description="An asynchronous PDF render farm: the operator's commands, and the engine alone.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = [_MODULES[command]] if command in _MODULES else dict.fromkeys(_MODULES.values())
    for module in wanted:
        import_module(f"deploy.cli.{module}").add_commands(commands)
    return parser


def _is_expected_error(failure: Exception) -> bool:
    """Return whether a failure needs no traceback. It cannot be of a module that was not loaded."""
    return any(
        module in sys.modules and isinstance(failure, getattr(sys.modules[module], name))
        for module, name in EXPECTED_ERRORS.items()
    )


def _print_version() -> int:
    """Print the version of the installed distribution, without loading any command."""
    from importlib.metadata import version

    print(f"pressroom {version('pressroom')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
