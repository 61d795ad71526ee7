"""Groups of operations of the client: files, keys, templates with their versions and tags, and slugs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from pressroom_client.records import FileUsage, read_record
from pressroom_client.schemas import (
    Approval,
    Dependent,
    Font,
    Image,
    Key,
    Slug,
    SlugState,
    Tag,
    TagEvent,
    Template,
    Version,
)
from pressroom_client.transport import ApiError, Resource

_F = TypeVar("_F", Image, Font)


class _Files(Resource, Generic[_F]):
    """The files of one kind. Storing under an existing name replaces the file."""

    _declared_type: ClassVar[str]  # the server detects the format from the bytes
    _record: type[_F]

    def store(self, name: str, data: bytes) -> _F:
        """Store the bytes of a file."""
        headers = {"Content-Type": self._declared_type}
        return self._own.read(self._record, "PUT", name, headers=headers, body=data)

    def store_file(self, name: str, path: str | PathLike[str]) -> _F:
        """Store a file of this computer."""
        return self.store(name, Path(path).read_bytes())

    def store_from(self, name: str, source_url: str) -> _F:
        """Store a file that the farm fetches once from a public address."""
        fields = {"name": name, "source_url": source_url}
        return self._own.read(self._record, "POST", fields=fields)

    def read(self, name: str) -> _F:
        """Return the record of a file; its bytes are not served back."""
        return self._own.read(self._record, "GET", name)

    def list(self) -> Iterator[_F]:
        """Yield the files by name."""
        return self._own.read_pages(self._record)

    def usage(self) -> FileUsage:
        """Return the number and the total size of the stored files."""
        page = self._own.request_json("GET", query={"limit": "1"})
        return read_record(FileUsage, page["usage"])

    def delete(self, name: str) -> None:
        """Delete a file."""
        self._own.request("DELETE", name)


class Images(_Files[Image]):
    """The images that documents draw: PNG, JPEG, WebP, SVG and PDF."""

    _plural, _declared_type = "images", "image/png"
    _record = Image


class Fonts(_Files[Font]):
    """The fonts that documents declare: TrueType, OpenType, WOFF and WOFF2, and collections."""

    _plural, _declared_type = "fonts", "font/sfnt"
    _record = Font


class Keys(Resource):
    """The API keys of the account. The secret of a key is returned only when it is created."""

    _plural = "keys"

    def list(self) -> list[Key]:
        """Return all keys, including revoked and expired ones."""
        return self._own.read_page(Key)

    def create(
        self,
        *,
        name: str | None = None,
        expires_at: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> Key:
        """Create a key; `expires_at` is an ISO 8601 timestamp. The secret is the record's `key`.

        `scopes` are of `read`, `render`, `templates` and `account`; by default those of this client's key.
        """
        given = {"name": name, "expires_at": expires_at, "scopes": scopes and [*scopes]}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._own.read(Key, "POST", fields=fields)

    def revoke(self, key_id: str) -> None:
        """Revoke a key permanently."""
        self._own.request("DELETE", key_id)


_XML: Final = {"Content-Type": "application/xml"}
_ZIP: Final = "application/zip"


class Templates(Resource):
    """The templates of the account.

    A method that changes something accepts `if_match`, the `etag` of the record that was read. It then
    raises `ApiError` with status 412 if another client changed it first.
    """

    _plural = "templates"

    def create(self, name: str, content: bytes | str = b"") -> Template:
        """Create a template, optionally without content."""
        return self._own.read(Template, "POST", query={"name": name}, headers=_XML, body=content)

    def list(self, *, name: str | None = None, public: bool = False) -> Iterator[Template]:
        """Yield templates by id, optionally those of one name, and optionally the public ones too."""
        query = {"name": name, "include": "public" if public else None}
        return self._own.read_pages(Template, query=query)

    def read(self, reference: str) -> Template:
        """Return a template with the `content` of a reference, such as `id@3` or `slug@latest`."""
        return self._own.read(Template, "GET", reference)

    def replace(
        self, template_id: str, content: bytes | str, *, if_match: str | None = None
    ) -> Template:
        """Replace the live content."""
        headers = {**_XML, "If-Match": if_match}
        return self._own.read(Template, "PUT", template_id, headers=headers, body=content)

    def rename(self, template_id: str, name: str, *, if_match: str | None = None) -> Template:
        """Change the name."""
        headers = {"If-Match": if_match}
        return self._own.read(
            Template, "PATCH", template_id, headers=headers, fields={"name": name}
        )

    def delete(self, template_id: str, *, if_match: str | None = None) -> None:
        """Delete the live content; versions stay readable and the slug stays assigned."""
        self._own.request("DELETE", template_id, headers={"If-Match": if_match})

    def dependents(self, template_id: str) -> Sequence[Dependent]:
        """Return at most 20 templates whose live content extends or imports a template."""
        return self._own.read_page(Dependent, template_id, "dependents", name="templates")

    def publish(
        self, template_id: str, *, message: str = "", if_match: str | None = None
    ) -> Version:
        """Publish the live content; unchanged content returns the newest version."""
        headers, fields = {"If-Match": if_match}, {"message": message}
        return self._own.read(
            Version, "POST", template_id, "versions", headers=headers, fields=fields
        )

    def versions(self, template_id: str) -> Sequence[Version]:
        """Return the newest 50 versions, newest first, without content."""
        return self._own.read_page(Version, template_id, "versions")

    def version(self, template_id: str, number: int) -> Version:
        """Return a version with its `content`."""
        return self._own.read(Version, "GET", template_id, "versions", str(number))

    def approve(
        self, template_id: str, number: int, *, cases: Mapping[str, str | int] | None = None
    ) -> Sequence[Approval]:
        """Approve a version that another key published, and return its approvals.

        One with stored cases needs their report: `sha256` of the ZIP, `passed` and `failed`.
        """
        path, fields = (template_id, "versions", str(number), "approval"), {"cases": cases}
        answer = self._own.request_json("PUT", *path, fields=fields if cases else {})
        return [read_record(Approval, each) for each in answer["approvals"]]

    def store_cases(self, template_id: str, archive: bytes) -> None:
        """Store the cases that the next version has, a ZIP of their folder; empty bytes remove them."""
        headers = {"Content-Type": _ZIP}
        self._own.request("PUT", template_id, "cases", headers=headers, body=archive)

    def read_cases(self, template_id: str, number: int | None = None) -> bytes | None:
        """Return the ZIP of the cases of a version, or of those that the next one has; None without any."""
        query = {"version": None if number is None else str(number)}
        try:
            return self._own.request("GET", template_id, "cases", query=query)[0]
        except ApiError as error:
            if error.status == 404 and error.code is None:
                return None
            raise

    def set_tag(
        self,
        template_id: str,
        tag: str,
        version: int,
        *,
        guarded: bool | None = None,
        if_match: str | None = None,
    ) -> Tag:
        """Create a tag, or move it to another version; a guarded one moves to approved versions only."""
        headers, fields = {"If-Match": if_match}, {"version": version}
        fields |= {} if guarded is None else {"guarded": guarded}
        return self._own.read(Tag, "PUT", template_id, "tags", tag, headers=headers, fields=fields)

    def tags(self, template_id: str) -> Iterator[Tag]:
        """Yield the tags by name."""
        return self._own.read_pages(Tag, template_id, "tags", key="tag")

    def tag(self, template_id: str, tag: str) -> Tag:
        """Return a tag."""
        return self._own.read(Tag, "GET", template_id, "tags", tag)

    def remove_tag(self, template_id: str, tag: str, *, if_match: str | None = None) -> bool:
        """Remove a tag, and return whether there was one."""
        headers = {"If-Match": if_match}
        answer = self._own.request_json("DELETE", template_id, "tags", tag, headers=headers)
        return bool(answer["removed"])

    def tag_history(self, template_id: str, tag: str) -> Sequence[TagEvent]:
        """Return the last 100 changes of a tag, newest first."""
        return self._own.read_page(TagEvent, template_id, "tags", tag, "history", name="events")


class Slugs(Resource):
    """The slugs of the workspace: names of templates that can be moved."""

    _plural = "slugs"

    def assign(self, slug: str, template_id: str) -> Slug:
        """Assign a slug, or move it to another template."""
        fields = {"slug": slug, "template": template_id}
        return self._own.read(Slug, "POST", fields=fields)

    def list(self) -> Sequence[Slug]:
        """Return the slugs by name, 1,000 at most."""
        return self._own.read_page(Slug)

    def check(self, slug: str) -> SlugState:
        """Return whether a slug is available, else the template that holds it."""
        return self._own.read(SlugState, "GET", slug)

    def release(self, slug: str) -> None:
        """Release a slug, even if its template was deleted."""
        self._own.request("DELETE", slug)
