"""How a published version is shown: its record, and its content below the header comment."""

from __future__ import annotations

import re
from typing import Any, Final

from api.exchange import write_user
from shared.clock import timestamp
from shared.db.versions import Version

# What XML 1.0 has no place for, even inside a comment.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HYPHENS: Final = re.compile("-(?=-)")


def write_version(version: Version) -> dict[str, Any]:
    """Write a version's record, without content."""
    return {
        "version": version.version,
        "sha256": version.sha256,
        "message": version.message,
        "created_at": timestamp(version.created_at),
        "created_by": write_user(version.created_by),
    }


def write_content(version: Version, content: str) -> str:
    """Put the header comment before a version's content.

    Nothing, not even a line break, stands between the two: what follows `-->` is what was hashed.
    """
    user = version.created_by
    return (
        f"<!-- Service template version {version.version}\n"
        f"sha256 {version.sha256}\n"
        f"{timestamp(version.created_at)} by {_safe(user.name)} <{_safe(user.email)}> -->"
        f"{content}"
    )


def _safe(text: str) -> str:
    # Two hyphens would end the comment (contract.md 3: `--` is written `- -`).
    return _HYPHENS.sub("- ", _NO_XML.sub("\ufffd", text))
