"""The `security` of a file: its encryption, or its signature by `sign` and `sign-field`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.ports import Security, SignatureRequest
from workers.engine.syntax.element_checks import SIGNING
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.context import CompileContext

_MAX_NAMES: Final = 20  # in a message


def compile_security(
    element: Element | None, context: CompileContext
) -> Callable[[Scope], Security] | None:
    """Compile the passwords and permissions of a file, None for one that is not encrypted."""
    if element is None:
        return None
    read = {
        name: context.compile_attribute(element, name)
        for name in ELEMENTS["security"].attributes
        if name not in (*SIGNING, "final")
    }
    given = element.attributes

    def build(scope: Scope) -> Security:
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        for name in ("user-password", "owner-password"):
            if name in given and not values[name]:
                scope.state.findings.error(
                    "empty-password",
                    f"The {name} is empty. Give it a value, or leave the attribute out",
                    element.location,
                )
        return Security(**{name.replace("-", "_"): value for name, value in values.items()})

    return build


def compile_signature(
    element: Element, context: CompileContext
) -> Callable[[Scope], SignatureRequest | None]:
    """Compile a signature; it is built after all form fields, and is None if an error is reported."""
    read_certificate, read_field = (context.compile_attribute(element, name) for name in SIGNING)

    def build(scope: Scope) -> SignatureRequest | None:
        state = scope.state
        certificate, field = read_certificate.read(scope), read_field.read(scope)
        if error := _find_error(field, state.form_fields.signatures):
            state.findings.error("signature", error, element.location)
        return SignatureRequest(certificate, field, element.location) if certificate else None

    return build


def _find_error(field: str | None, signatures: list[str]) -> str:
    """Return why the field cannot be signed, empty if it can."""
    names = ", ".join(signatures[:_MAX_NAMES])
    if field is None and len(signatures) > 1:
        return f"The document has several signature fields; choose one by `sign-field`: {names}"
    if field is not None and field not in signatures:
        shown = f"accepted are: {names}" if names else "it has none"
        return f'The document has no signature field "{field}" to sign; {shown}'
    return ""
