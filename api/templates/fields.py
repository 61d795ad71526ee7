"""Validation of template ids, names, versions, tags and slugs in paths and bodies."""

from __future__ import annotations

import re
from typing import Any, Final

from shared.errors import ErrorCode, ServiceError
from shared.identifiers import ID_SHAPE, PUBLIC_PREFIX, SLUG, TAG, TEMPLATE_ID

MAX_VERSION_DIGITS: Final = 16  # digits of a version in a path
_VERSION: Final = re.compile(r"[1-9][0-9]{0,15}\Z")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,200}\Z")
_RESERVED_TAGS: Final = ("live", "latest")


def check_template_id(template_id: str, field: str = "template id") -> None:
    """Check that a text has the form of a template id.

    Raises:
        ServiceError: 400, with the field and the rule.
    """
    if not TEMPLATE_ID.match(template_id):
        raise ServiceError(
            400,
            f"Invalid {field} {template_id[:150]!r}: accepted are 1 to 128 letters, digits, hyphens "
            "and underscores, not between double underscores, and no @selector.",
        )


def check_template_name(name: str) -> str:
    """Check the name of a template and return it.

    Raises:
        ServiceError: 400, with the rule.
    """
    if not _NAME.match(name):
        raise ServiceError(
            400,
            f"Invalid name {name[:100]!r}: accepted are 1 to 200 characters, no control characters.",
        )
    return name


def parse_version(text: str) -> int:
    """Parse the version number of a path.

    Raises:
        ServiceError: 400, with the rule.
    """
    if not _VERSION.match(text):
        raise _invalid_version(text)
    return int(text)


def read_version(fields: dict[str, Any]) -> int:
    """Read the required field `version`.

    Raises:
        ServiceError: 400, it is missing or not a version number.
    """
    version = fields.get("version")
    # JSON has one number type, so 3.0 is accepted; Python's bool is an int, so true is excluded.
    if isinstance(version, float) and version.is_integer():
        version = int(version)
    if not isinstance(version, int) or isinstance(version, bool):
        raise ServiceError(
            400, "The field version is required and must be a whole number: a published version."
        )
    if not 1 <= version < 10**MAX_VERSION_DIGITS:
        raise _invalid_version(str(version)[:40])
    return version


def check_tag(tag: str) -> None:
    """Check a tag's name.

    Raises:
        ServiceError: 400, with the violated rule.
    """
    if tag in _RESERVED_TAGS:
        rule = "it is reserved"
    elif tag.isascii() and tag.isdigit():
        rule = "all digits are a version number"
    else:
        check_tag_shape(tag)
        return
    raise _invalid_tag("tag", tag, rule)


def check_tag_shape(tag: str, field: str = "tag") -> None:
    """Check the length and the characters of a tag.

    Raises:
        ServiceError: 400, with the violated rule.
    """
    if not 1 <= len(tag) <= 64:
        raise _invalid_tag(field, tag, f"it has {len(tag)} characters, accepted are 1 to 64")
    if not TAG.match(tag):
        raise _invalid_tag(
            field, tag, "accepted are lowercase letters, digits and single hyphens, none at an end"
        )


def read_slug(fields: dict[str, Any]) -> str:
    """Read the required field `slug`.

    Raises:
        ServiceError: 400, it is missing or violates a rule.
    """
    slug = fields.get("slug")
    if not isinstance(slug, str):
        raise ServiceError(400, "The field slug is required and must be a string.")
    check_slug(slug)
    return slug


def read_template_id(fields: dict[str, Any]) -> str:
    """Read the required field `template`, or `template_id`, its former name.

    Raises:
        ServiceError: 400, it is missing, not a template id, or both fields differ.
    """
    given = [fields[name] for name in ("template", "template_id") if name in fields]
    if not given or not all(isinstance(value, str) for value in given):
        raise ServiceError(400, "The field template is required and must be a string: the id.")
    if len(set(given)) > 1:
        raise ServiceError(
            400, "The fields template and template_id, its former name, differ: send one of them."
        )
    template_id: str = given[0]
    check_template_id(template_id, "template")
    return template_id


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


def _invalid_version(quoted: str) -> ServiceError:
    return ServiceError(
        400,
        f"Invalid version {quoted[:40]!r}: accepted is a number from 1, without leading zeros, of up "
        f"to {MAX_VERSION_DIGITS} digits.",
    )


def _invalid_tag(field: str, tag: str, rule: str) -> ServiceError:
    return ServiceError(400, f"Invalid {field} {tag[:100]!r}: {rule}.")


def _invalid_slug(slug: str, rule: str) -> ServiceError:
    return ServiceError(400, f"Invalid slug '{slug[:100]}': {rule}.", code=ErrorCode.SLUG_INVALID)
