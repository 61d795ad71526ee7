"""Encryption and permissions of the `security` element (ISO 32000-2, 7.6)."""

from __future__ import annotations

from typing import Final, Literal

import pikepdf

from workers.engine.diagnostics import AuthoringError, Diagnostic, Severity
from workers.engine.ports import Security

# ISO 32000-2, 7.6.4.1, and the maximum password length of each revision: the rest is ignored.
_REVISIONS: Final[dict[str, Literal[4, 6]]] = {"aes-256": 6, "aes-128": 4}
_MAX_BYTES: Final = {6: 127, 4: 32}


def make_encryption(security: Security, *, fallback_owner_password: str) -> pikepdf.Encryption:
    """Return the encryption of a document.

    `fallback_owner_password` is used if the document sets none: with an empty owner password every
    reader could remove the restrictions.

    Raises:
        AuthoringError: a password is not usable with the encryption.
    """
    check_passwords(security)
    owner = security.owner_password or fallback_owner_password
    # The tree stage rejects an empty password, with which the file would open for every reader.
    assert security.user_password != ""
    assert owner
    return pikepdf.Encryption(
        owner=owner,
        user=security.user_password or "",
        R=_REVISIONS[security.encryption],
        allow=_permissions(security),
        aes=True,
        metadata=True,
    )


def check_passwords(security: Security) -> None:
    """Check the characters and length of the passwords of a document.

    Raises:
        AuthoringError: a password is not usable with the encryption.
    """
    for name in ("user", "owner"):
        _check_password(security, name)


def _check_password(security: Security, name: str) -> None:
    password = security.user_password if name == "user" else security.owner_password
    revision = _REVISIONS[security.encryption]
    try:
        size = len((password or "").encode("pdfdoc" if revision == 4 else "utf-8"))
    except UnicodeEncodeError:
        advice = 'use encryption="aes-256" or Latin letters' if revision == 4 else "change them"
        raise _password_error(
            f"{name}-password has characters that cannot be used; {advice}"
        ) from None
    if size > _MAX_BYTES[revision]:
        raise _password_error(
            f"{name}-password has {size} bytes; {security.encryption} uses the first "
            f"{_MAX_BYTES[revision]} only: shorten it"
        )


def _password_error(message: str) -> AuthoringError:
    return AuthoringError((Diagnostic(Severity.ERROR, "security-password", message),))


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
