"""The farm of commands that send requests to one."""

from __future__ import annotations

import argparse

from deploy.cli.output import CommandFailed
from deploy.embedded.plan import operator_environment


def find_farm(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the URL and the API key of `--url` and `--key`, or of the environment.

    Raises:
        CommandFailed: Neither names a farm.
    """
    environment = operator_environment()
    url = arguments.url or environment.get("PRESSROOM_URL")
    key = arguments.key or environment.get("PRESSROOM_KEY")
    if not (url and key):
        raise CommandFailed(
            "no farm is given: pass --url and --key, or set PRESSROOM_URL and PRESSROOM_KEY"
        )
    return url, key
