"""Encryption of a finished file: the passwords and permissions of `security` (ISO 32000-2, 7.6)."""

from __future__ import annotations

import io
from typing import Final, Literal

import pikepdf

from workers.engine.diagnostics import Findings
from workers.engine.ports import Security

# ISO 32000-2, 7.6.4.1, and the maximum password length of each revision: the rest is ignored.
_REVISIONS: Final[dict[str, Literal[4, 6]]] = {"aes-256": 6, "aes-128": 4}
_MAX_BYTES: Final = {6: 127, 4: 32}


def encrypt(pdf: bytes, security: Security, *, fallback_owner_password: str) -> bytes:
    """Return the encrypted file; not deterministic, since its salts are random (ISO 32000-2, 7.6.4).

    Its passwords are checked. `fallback_owner_password` is used if the document sets none: with an empty owner password every
    reader could remove the restrictions.
    """
    owner = security.owner_password or fallback_owner_password
    # The tree stage rejects an empty password, with which the file would open for every reader.
    assert security.user_password != ""
    assert owner
    encryption = pikepdf.Encryption(
        owner=owner,
        user=security.user_password or "",
        R=_REVISIONS[security.encryption],
        allow=_permissions(security),
        aes=True,
        metadata=True,
    )
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        opened.save(
            written,
            fix_metadata_version=False,  # the packet is complete already
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            encryption=encryption,
        )
    return written.getvalue()


def check_passwords(security: Security, findings: Findings) -> None:
    """Report passwords of which the characters or the length do not suit the encryption."""
    for name, password in (("user", security.user_password), ("owner", security.owner_password)):
        if problem := _find_problem(name, password or "", security.encryption):
            findings.error("security-password", problem)


def _find_problem(name: str, password: str, encryption: str) -> str:
    revision = _REVISIONS[encryption]
    try:
        size = len(password.encode("pdfdoc" if revision == 4 else "utf-8"))
    except UnicodeEncodeError:
        advice = 'use encryption="aes-256" or Latin letters' if revision == 4 else "change them"
        return f"{name}-password has characters that cannot be used; {advice}"
    most = _MAX_BYTES[revision]
    if size <= most:
        return ""
    return f"{name}-password has {size} bytes; {encryption} uses the first {most} only: shorten it"


def _permissions(security: Security) -> pikepdf.Permissions:
    return pikepdf.Permissions(
        accessibility=True,  # assistive technology may always read
        extract=security.copy,
        modify_other=security.modify,
        modify_annotation=security.annotate,
        modify_form=security.fill_forms,
        modify_assembly=security.assemble,
        print_lowres=security.print != "none",
        print_highres=security.print == "high",
    )
