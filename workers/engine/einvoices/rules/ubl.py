"""Rules that EN 16931 has for UBL alone."""

from __future__ import annotations

from typing import Final

from workers.engine.einvoices.rules.rule import BusinessRule

UBL: Final = (
    BusinessRule("UBL-DT-06", "documents", "mediaType", "A file (BT-125) must have a media type", lambda one, _: "content" not in one or "mediaType" in one),
    BusinessRule("UBL-DT-07", "documents", "fileName", "A file (BT-125) must have a name", lambda one, _: "content" not in one or "fileName" in one),
)  # fmt: skip
