"""Static checks of `security`: a file is encrypted or signed."""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element

SIGNING: Final = ("sign", "sign-field")


def check_security(root: Element, findings: Findings) -> None:
    """Report attributes of `security` that exclude each other."""
    for security in root.elements("security"):
        given = security.attributes
        others = [name for name in given if name not in (*SIGNING, "final")]
        if "sign" in given and others:
            findings.error(
                "signed-security",
                f"A signed file is not encrypted, so `sign` excludes `{others[0]}`; leave one of "
                "them out",
                security.location,
            )
        elif "sign-field" in given and "sign" not in given:
            findings.error(
                "signed-security",
                "`sign-field` is the field to sign, but there is no certificate; add `sign`",
                security.location,
            )
