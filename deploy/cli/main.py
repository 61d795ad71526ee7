"""The `pressroom` command: one file per group of commands, one exit code, errors on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from deploy.cli.commands import build_parser

# Exceptions that are printed as one line, by their module.
EXPECTED_ERRORS: Final = (
    ("deploy.cli.output", "CommandFailed"),
    ("deploy.embedded.demo.show", "DemoFailed"),
    ("deploy.embedded.backup", "BackupFailed"),
    ("deploy.embedded.data_folder", "FolderInUse"),
    ("deploy.embedded.demo.show", "NotReady"),
    ("deploy.embedded.supervisor", "FarmStartFailed"),
    ("pressroom_client.transport", "PressroomError"),
    ("shared.db.migrate", "UnknownRevision"),
    ("shared.errors", "ServiceError"),
    ("shared.queue.shard_layout", "BusyShardError"),
    ("shared.queue.connection", "UnfitRedisError"),
    ("shared.queue.depth", "UnknownQueueError"),
    ("shared.settings", "WrongSetting"),
    ("workers.engine.local_files", "InputError"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failed or invalid input, 2 wrong usage.

    A command ends with its code, or in success with nothing or with the result that is printed.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["--version"]:
        return _print_version()
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # noqa: TID251 - a shell asks what may follow
        import_module("argcomplete").autocomplete(parser)
    parsed = parser.parse_args(given)
    # Only the module of the given command is loaded: all of them take a second.
    run = f"by_url.{parsed.by_url}" if parsed.by_url and parsed.url else parsed.run
    module, _, function = run.partition(".")
    try:
        ended = getattr(import_module(f"deploy.cli.{module}"), function)(parsed)
        if isinstance(ended, Mapping):
            from deploy.cli.output import print_result  # late, as the commands

            print_result(ended, as_json=parsed.json)
        if not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe; prevent a second error when stdout is flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as failure:
        if not _is_expected_error(failure):
            raise
        print(f"pressroom: {failure}", file=sys.stderr)
        return 1
    return ended if isinstance(ended, int) else 0


def _is_expected_error(failure: Exception) -> bool:
    """Return whether a failure needs no traceback. It cannot be of a module that was not loaded."""
    return any(
        module in sys.modules and isinstance(failure, getattr(sys.modules[module], name))
        for module, name in EXPECTED_ERRORS
    )


def _print_version() -> int:
    """Print the version of the installed distribution, without loading any command."""
    from importlib.metadata import version

    print(f"pressroom {version('pressroom')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
