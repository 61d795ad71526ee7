"""`pressroom mcp`: templates of a farm for an assistant, by the Model Context Protocol on standard input and output.

All of it goes through the public API with the caller's key, so that an assistant may do what the key may do.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import wraps
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from deploy.cli.output import CommandFailed, read_credentials
from pressroom_client import Pressroom, PressroomError

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from pressroom_client.schemas import Template

P = ParamSpec("P")
T = TypeVar("T")
MOST_LISTED: Final = 200
MOST_CHARACTERS: Final = 40_000
_HEADING: Final = re.compile("^(?P<depth>#{2,4}) (?P<name>.+)$", re.MULTILINE)
_PIXELS_PER_POINT: Final = 1.5
_INSTRUCTIONS: Final = """Templates are XML documents whose expressions, such as {{ customer.name }}, are filled in from JSON data. Read the
chapters and elements of the language that you need, and a public template as an example. Preview what you write, look at the page, and mend its findings before you store it. Nothing
that is stored is used for production before it is published."""


def run_server(arguments: argparse.Namespace) -> None:
    """Serve one assistant until standard input ends."""
    farm = Pressroom(*read_credentials(arguments))
    make_server(farm).run("stdio")


def make_server(farm: Pressroom) -> MCPServer:
    """Return the server of a farm; it changes templates only if the key has the scope `templates`.

    Raises:
        CommandFailed: the extra `pressroom[mcp]` is not installed.
    """
    try:
        from mcp.server import MCPServer
    except ImportError as error:
        raise CommandFailed(
            "the package mcp is missing; run: .venv/bin/pip install '.[mcp]'"
        ) from error
    server = MCPServer("pressroom", instructions=_INSTRUCTIONS)
    tools = TemplateTools(farm)
    offered: list[Callable[..., Any]] = [
        tools.read_language,
        tools.list_templates,
        tools.read_template,
        tools.validate_template,
        tools.preview_page,
    ]
    if "templates" in farm.account()["scopes"]:
        offered += [tools.create_template, tools.replace_template, tools.publish_template]
    for tool in offered:
        server.tool(structured_output=False)(_tell_errors(tool))
    return server


class TemplateTools:
    """What an assistant can do; the docstrings are what it is told."""

    def __init__(self, farm: Pressroom) -> None:
        self._farm = farm

    def read_language(self, heading: str | None = None) -> str:
        """Return a chapter of the document language, or an element by its name such as `table`; without a heading, all headings."""
        text = (resources.files("workers.engine") / "LANGUAGE.md").read_text("utf-8")
        found = list(_HEADING.finditer(text))
        if heading is None:
            return "\n".join(each["name"] for each in found)
        asked = heading.strip("`<> ").lower()
        for place, each in enumerate(found):
            if each["name"].strip("`").lower() == asked:
                rest = (o for o in found[place + 1 :] if len(o["depth"]) <= len(each["depth"]))
                end = next((o.start() for o in rest), len(text))
                return text[each.start() : end][:MOST_CHARACTERS]
        raise ValueError(f"There is no heading {heading!r}.")

    def list_templates(self, name: str | None = None, *, public: bool = False) -> Any:
        """List templates with their ids and slugs: the account's own, or the public ones to begin with; at most 200."""
        found = self._farm.templates.list(name=name, public=public)
        return [
            {"id": each.id, "slug": each.slug, "name": each.name}
            for each in islice(found, MOST_LISTED)
        ]

    def read_template(self, template: str) -> Any:
        """Return the XML of a template, by its id, its slug or the slug of a public one, and its `etag`."""
        found = self._farm.templates.read(template)
        return {"id": found.id, "name": found.name, "etag": found.etag, "content": found.content}

    def validate_template(self, content: str) -> Any:
        """Return the errors and warnings of the XML of a template, each with its line."""
        return asdict(self._farm.validate(content))

    def preview_page(
        self, template: str, data: Mapping[str, Any] | None = None, page: int = 1
    ) -> Any:
        """Draw a page, with the number of pages and the findings.

        `template` is XML, or an id or slug. Without data, those of the template are used.
        """
        from mcp.server.mcpserver import Image

        drawn = self._farm.preview(
            template, payload=data, page=page, scale=_PIXELS_PER_POINT, format="png"
        )
        told = {"pages": drawn.pages, "findings": asdict(drawn.findings)}
        return [told, Image(data=drawn.file.data, format="png")] if drawn.file else [told]

    def create_template(self, name: str, content: str) -> Any:
        """Store XML as a new template. Nothing is published."""
        return _show_stored(self._farm.templates.create(name, content))

    def replace_template(self, template: str, content: str, etag: str) -> Any:
        """Replace the XML of a template that has the `etag` that was read. Its published versions stay as they are."""
        found = self._farm.templates.read(template)
        return _show_stored(self._farm.templates.replace(found.id, content, if_match=etag))

    def publish_template(self, template: str, etag: str, message: str = "") -> Any:
        """Publish the stored content as a version, which renders of `@latest` then use. Ask the person first."""
        found = self._farm.templates.read(template)
        return asdict(self._farm.templates.publish(found.id, message=message, if_match=etag))


def _show_stored(stored: Template) -> Any:
    return {"id": stored.id, "etag": stored.etag, "findings": stored.findings}


def _tell_errors(tool: Callable[P, T]) -> Callable[P, T]:
    """Return a tool whose refusals are results that the assistant can read and mend."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except (PressroomError, ValueError) as error:
            raise ToolError(str(error)) from error

    return call
