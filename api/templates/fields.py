"""Bodies of requests about templates, and the rules of slugs."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from api.operations.model import Name
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import ID_SHAPE, PUBLIC_PREFIX, SLUG, TEMPLATE_ID
from shared.records import Record

# JSON has one type of numbers: 3.0 is 3.
_Version = Annotated[float, Meta(ge=1, lt=10**16, multiple_of=1)]
_TemplateId = Annotated[str, Meta(pattern=f"^{TEMPLATE_ID.pattern}")]


class RenameRequest(Record, frozen=True, forbid_unknown_fields=True):
    """The new name of a template."""

    name: Name


class PlanTagRequest(Record, frozen=True, forbid_unknown_fields=True):
    """The version that a tag points to."""

    version: _Version


class TagRequest(PlanTagRequest, frozen=True, forbid_unknown_fields=True):
    """The version that a tag points to, and whether it is guarded from now on."""

    guarded: bool | UnsetType = UNSET


class SlugRequest(Record, frozen=True, forbid_unknown_fields=True):
    """A slug, and the id of its template; `template_id` is the former name of `template`."""

    slug: str
    template: _TemplateId = ""
    template_id: _TemplateId = ""

    def get_template(self) -> str:
        """Return the id.

        Raises:
            ServiceError: 400, it is missing, or both fields differ.
        """
        given = {self.template, self.template_id} - {""}
        if len(given) != 1:
            raise ServiceError(
                400,
                "The field template is required, the id; template_id, its former name, is sent in its place.",
            )
        return given.pop()


def check_slug(slug: str) -> None:
    """Check a slug.

    Raises:
        ServiceError: 400, with `ERR_SLUG_INVALID` for a reserved prefix or the shape of an id,
            without a code for length and characters.
    """
    if slug.startswith(PUBLIC_PREFIX):
        raise _invalid_slug(slug, f"it begins with the reserved prefix {PUBLIC_PREFIX!r}")
    if ID_SHAPE.match(slug):
        raise _invalid_slug(slug, "twenty lowercase letters and digits are the shape of an id")
    if not 3 <= len(slug) <= 64:
        rule = f"it has {len(slug)} characters, accepted are 3 to 64"
    elif not SLUG.match(slug):
        rule = "accepted are lowercase letters, digits and single hyphens, none at an end"
    else:
        return
    raise ServiceError(400, f"Invalid slug '{slug[:100]}': {rule}.")


def _invalid_slug(slug: str, rule: str) -> ServiceError:
    return ServiceError(400, f"Invalid slug '{slug[:100]}': {rule}.", code=ErrorCode.SLUG_INVALID)
