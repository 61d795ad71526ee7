"""Templates, their versions and tags, and slugs: `Pressroom.templates` and `Pressroom.slugs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pressroom_client.records import (
    Slug,
    SlugState,
    Tag,
    TagEvent,
    Template,
    Version,
    read_record,
)
from pressroom_client.transport import Transport, given, path_of

_XML: Final = {"Content-Type": "application/xml"}


class Templates:
    """The templates of the key's account.

    A method that changes something takes `if_match`, the `etag` of the record that the change starts
    from. It then raises `ApiError` with status 412 where somebody else was quicker.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, name: str, content: bytes = b"") -> Template:
        """Store a template, also an empty one to be written later."""
        return self._ask("POST", "/v2/templates", query={"name": name}, headers=_XML, body=content)

    def list(self, *, name: str | None = None, public: bool = False) -> Iterator[Template]:
        """Yield templates by id: all or those of a name, with the public ones if asked."""
        query = given({"name": name, "include": "public" if public else None})
        for page in self._transport.pages("/v2/templates", query):
            yield from (read_record(Template, each) for each in page["templates"])

    def read(self, reference: str) -> Template:
        """Return a template with the `content` that the reference names: `id@3`, `slug@latest`."""
        return self._ask("GET", path_of("templates", reference))

    def replace(self, template_id: str, content: bytes, *, if_match: str | None = None) -> Template:
        """Replace the live content."""
        headers = {**_XML, **given({"If-Match": if_match})}
        return self._ask("PUT", path_of("templates", template_id), headers=headers, body=content)

    def rename(self, template_id: str, name: str, *, if_match: str | None = None) -> Template:
        """Change the name."""
        path = path_of("templates", template_id)
        answer, told = self._transport.send("PATCH", path, {"name": name}, _match(if_match))
        return read_record(Template, answer, told)

    def delete(self, template_id: str, *, if_match: str | None = None) -> None:
        """Delete the live content; versions stay readable, the slug assigned."""
        path = path_of("templates", template_id)
        self._transport.ask("DELETE", path, headers=_match(if_match))

    def publish(
        self, template_id: str, *, message: str = "", if_match: str | None = None
    ) -> Version:
        """Publish the live content; content that did not change returns the newest version."""
        path = path_of("templates", template_id, "versions")
        answer, told = self._transport.send("POST", path, {"message": message}, _match(if_match))
        return read_record(Version, answer, told)

    def versions(self, template_id: str) -> Sequence[Version]:
        """Return the newest 50 versions, newest first, without content."""
        answer = self._transport.ask_json("GET", path_of("templates", template_id, "versions"))
        return [read_record(Version, each) for each in answer["versions"]]

    def version(self, template_id: str, number: int) -> Version:
        """Return a version with its `content`."""
        path = path_of("templates", template_id, "versions", str(number))
        answer, told = self._transport.send("GET", path)
        return read_record(Version, answer, told)

    def set_tag(
        self, template_id: str, tag: str, version: int, *, if_match: str | None = None
    ) -> Tag:
        """Make a tag, or move it to another version."""
        path = path_of("templates", template_id, "tags", tag)
        answer, told = self._transport.send("PUT", path, {"version": version}, _match(if_match))
        return read_record(Tag, answer, told)

    def tags(self, template_id: str) -> Iterator[Tag]:
        """Yield the tags by name."""
        query: dict[str, str] = {}
        while True:
            page = self._transport.ask_json(
                "GET", path_of("templates", template_id, "tags"), query=query
            )
            yield from (read_record(Tag, each) for each in page["tags"])
            if not page["has_more"]:
                return
            query["start_after"] = page["tags"][-1]["tag"]

    def tag(self, template_id: str, tag: str) -> Tag:
        """Return a tag."""
        answer, told = self._transport.send("GET", path_of("templates", template_id, "tags", tag))
        return read_record(Tag, answer, told)

    def remove_tag(self, template_id: str, tag: str, *, if_match: str | None = None) -> bool:
        """Remove a tag, and return whether there was one."""
        path = path_of("templates", template_id, "tags", tag)
        answer, _ = self._transport.send("DELETE", path, headers=_match(if_match))
        return bool(answer["removed"])

    def tag_history(self, template_id: str, tag: str) -> Sequence[TagEvent]:
        """Return the 100 latest changes of a tag, newest first."""
        path = path_of("templates", template_id, "tags", tag, "history")
        return [
            read_record(TagEvent, each) for each in self._transport.ask_json("GET", path)["events"]
        ]

    def _ask(self, method: str, path: str, **options: Any) -> Template:
        answer, told = self._transport.exchange(method, path, **options)
        return read_record(Template, answer, told)


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
        answer = self._transport.ask_json("GET", "/v2/slugs")
        return [read_record(Slug, each) for each in answer["slugs"]]

    def check(self, slug: str) -> SlugState:
        """Return whether a slug is free, and else which template has it."""
        return read_record(SlugState, self._transport.ask_json("GET", path_of("slugs", slug)))

    def release(self, slug: str) -> None:
        """Release a slug, even if its template was deleted."""
        self._transport.ask("DELETE", path_of("slugs", slug))


def _match(etag: str | None) -> Mapping[str, str]:
    return given({"If-Match": etag})
