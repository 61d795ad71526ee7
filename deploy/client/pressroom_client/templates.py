"""Templates, their versions and tags, and slugs: `Pressroom.templates` and `Pressroom.slugs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pressroom_client.records import read_record
from pressroom_client.schemas import Dependent, Slug, SlugState, Tag, TagEvent, Template, Version
from pressroom_client.transport import Transport, omit_none, resource_path

_XML: Final = {"Content-Type": "application/xml"}


class Templates:
    """The templates of the account.

    A method that changes something accepts `if_match`, the `etag` of the record that was read. It then
    raises `ApiError` with status 412 if another client changed it first.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, name: str, content: bytes | str = b"") -> Template:
        """Create a template, optionally without content."""
        return self._ask("POST", "/v2/templates", query={"name": name}, headers=_XML, body=content)

    def list(self, *, name: str | None = None, public: bool = False) -> Iterator[Template]:
        """Yield templates by id, optionally those of one name, and optionally the public ones too."""
        query = omit_none({"name": name, "include": "public" if public else None})
        for page in self._transport.pages("/v2/templates", query):
            yield from (read_record(Template, each) for each in page["templates"])

    def read(self, reference: str) -> Template:
        """Return a template with the `content` of a reference, such as `id@3` or `slug@latest`."""
        return self._ask("GET", resource_path("templates", reference))

    def replace(
        self, template_id: str, content: bytes | str, *, if_match: str | None = None
    ) -> Template:
        """Replace the live content."""
        headers = {**_XML, **omit_none({"If-Match": if_match})}
        return self._ask(
            "PUT", resource_path("templates", template_id), headers=headers, body=content
        )

    def rename(self, template_id: str, name: str, *, if_match: str | None = None) -> Template:
        """Change the name."""
        path = resource_path("templates", template_id)
        response, response_headers = self._transport.send_json_with_headers(
            "PATCH", path, {"name": name}, _match(if_match)
        )
        return read_record(Template, response, response_headers)

    def delete(self, template_id: str, *, if_match: str | None = None) -> None:
        """Delete the live content; versions stay readable and the slug stays assigned."""
        path = resource_path("templates", template_id)
        self._transport.request("DELETE", path, headers=_match(if_match))

    def dependents(self, template_id: str) -> Sequence[Dependent]:
        """Return at most 20 templates whose live content extends or imports a template."""
        response = self._transport.request_json(
            "GET", resource_path("templates", template_id, "dependents")
        )
        return [read_record(Dependent, each) for each in response["templates"]]

    def publish(
        self, template_id: str, *, message: str = "", if_match: str | None = None
    ) -> Version:
        """Publish the live content; unchanged content returns the newest version."""
        path = resource_path("templates", template_id, "versions")
        response, response_headers = self._transport.send_json_with_headers(
            "POST", path, {"message": message}, _match(if_match)
        )
        return read_record(Version, response, response_headers)

    def versions(self, template_id: str) -> Sequence[Version]:
        """Return the newest 50 versions, newest first, without content."""
        response = self._transport.request_json(
            "GET", resource_path("templates", template_id, "versions")
        )
        return [read_record(Version, each) for each in response["versions"]]

    def version(self, template_id: str, number: int) -> Version:
        """Return a version with its `content`."""
        path = resource_path("templates", template_id, "versions", str(number))
        response, response_headers = self._transport.send_json_with_headers("GET", path)
        return read_record(Version, response, response_headers)

    def set_tag(
        self, template_id: str, tag: str, version: int, *, if_match: str | None = None
    ) -> Tag:
        """Create a tag, or move it to another version."""
        path = resource_path("templates", template_id, "tags", tag)
        response, response_headers = self._transport.send_json_with_headers(
            "PUT", path, {"version": version}, _match(if_match)
        )
        return read_record(Tag, response, response_headers)

    def tags(self, template_id: str) -> Iterator[Tag]:
        """Yield the tags by name."""
        query: dict[str, str] = {}
        while True:
            page = self._transport.request_json(
                "GET", resource_path("templates", template_id, "tags"), query=query
            )
            yield from (read_record(Tag, each) for each in page["tags"])
            if not page["has_more"]:
                return
            query["start_after"] = page["tags"][-1]["tag"]

    def tag(self, template_id: str, tag: str) -> Tag:
        """Return a tag."""
        response, response_headers = self._transport.send_json_with_headers(
            "GET", resource_path("templates", template_id, "tags", tag)
        )
        return read_record(Tag, response, response_headers)

    def remove_tag(self, template_id: str, tag: str, *, if_match: str | None = None) -> bool:
        """Remove a tag, and return whether there was one."""
        path = resource_path("templates", template_id, "tags", tag)
        response, _ = self._transport.send_json_with_headers(
            "DELETE", path, headers=_match(if_match)
        )
        return bool(response["removed"])

    def tag_history(self, template_id: str, tag: str) -> Sequence[TagEvent]:
        """Return the last 100 changes of a tag, newest first."""
        path = resource_path("templates", template_id, "tags", tag, "history")
        return [
            read_record(TagEvent, each)
            for each in self._transport.request_json("GET", path)["events"]
        ]

    def _ask(self, method: str, path: str, **options: Any) -> Template:
        response, response_headers = self._transport.request_json_with_headers(
            method, path, **options
        )
        return read_record(Template, response, response_headers)


class Slugs:
    """The slugs of the workspace: names of templates that can be moved."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def assign(self, slug: str, template_id: str) -> Slug:
        """Assign a slug, or move it to another template."""
        fields = {"slug": slug, "template": template_id}
        return read_record(Slug, self._transport.send_json("POST", "/v2/slugs", fields))

    def list(self) -> Sequence[Slug]:
        """Return the slugs by name, 1,000 at most."""
        response = self._transport.request_json("GET", "/v2/slugs")
        return [read_record(Slug, each) for each in response["slugs"]]

    def check(self, slug: str) -> SlugState:
        """Return whether a slug is available, else the template that holds it."""
        return read_record(
            SlugState, self._transport.request_json("GET", resource_path("slugs", slug))
        )

    def release(self, slug: str) -> None:
        """Release a slug, even if its template was deleted."""
        self._transport.request("DELETE", resource_path("slugs", slug))


def _match(etag: str | None) -> Mapping[str, str]:
    return omit_none({"If-Match": etag})
