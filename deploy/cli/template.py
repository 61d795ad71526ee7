"""`pressroom template`: stores and publishes templates on a farm; where one has errors, it asks first."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from deploy.cli.output import CommandFailed, print_result, read_file
from deploy.cli.remote import find_farm
from pressroom_client import Pressroom, PressroomError


def publish_template(arguments: argparse.Namespace) -> int:
    """Store a file as the live content of a template, and publish that as a version."""
    content = read_file(arguments.document)
    templates = Pressroom(*find_farm(arguments)).templates
    try:
        template = templates.replace(arguments.template, content)
        errors = (template.findings or {}).get("errors", 0)
        if errors and not arguments.yes and not _is_confirmed(errors):
            raise CommandFailed(
                f"{arguments.document} has errors that every document of it would have: {errors}. It "
                f"is stored, and not published; `pressroom validate {arguments.document}` lists them, "
                "--yes publishes nevertheless"
            )
        version = templates.publish(template.id, message=arguments.message, if_match=template.etag)
    except PressroomError as error:
        raise CommandFailed(str(error)) from error
    print_result({"template": template.id, **asdict(version)}, as_json=arguments.json)
    return 0


def _is_confirmed(errors: int) -> bool:
    """Ask whether to publish a template with errors; without a terminal nobody can be asked."""
    if not sys.stdin.isatty():
        return False
    return input(f"The template has {errors} errors. Publish it anyway? [y/N] ").lower() == "y"
