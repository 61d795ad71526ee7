"""The JSON representation of a version, and its content with the header comment."""

from __future__ import annotations

import re
from typing import Final

from shared.clock import timestamp
from shared.templates.versions import Version

# Characters that XML 1.0 does not allow, even in a comment (2.2).
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HYPHENS: Final = re.compile("-(?=-)")


def write_content(version: Version, content: str) -> str:
    """Return a version's content with the header comment.

    No line break separates them: the digest covers everything after `-->`.
    """
    user = version.created_by
    return (
        f"<!-- Service template version {version.version}\n"
        f"sha256 {version.sha256}\n"
        f"{timestamp(version.created_at)} by {_safe(user.name)} <{_safe(user.email)}> -->"
        f"{content}"
    )


def _safe(text: str) -> str:
    # Two hyphens would end the comment (so `--` is written `- -`).
    return _HYPHENS.sub("- ", _NO_XML.sub("\ufffd", text))
