"""Declarations of a document: styles and colours, fonts, and the `security` of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from workers.engine.ports import Security, SignatureRequest
from workers.engine.syntax.checks import find_color_names
from workers.engine.syntax.element_checks import SIGNING
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import counter_of
from workers.engine.syntax.vocabulary import ELEMENTS, read_attribute
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.document import DeclaredFont
from workers.engine.tree.nodes import Source
from workers.engine.tree.styles.cascade import (
    NO_PROPERTIES,
    Properties,
    StyleSheet,
    expand_shorthands,
)
from workers.engine.tree.styles.computed import DEFAULT_PAGE_FAMILY
from workers.engine.units import BLACK

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
                message = f"The {name} is empty. Give it a value, or leave the attribute out"
                scope.state.findings.error("empty-password", message, element.location)
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


def compile_fonts(elements: Iterable[Element], context: CompileContext) -> Iterator[DeclaredFont]:
    """Yield the complete declarations; the checks report what others lack."""
    for element in elements:
        family, name = (read_attribute(element, key) for key in ("family", "src"))
        if family and name:
            yield _read(element, context, family, name)


def _read(element: Element, context: CompileContext, family: str, name: str) -> DeclaredFont:
    value = partial(read_attribute, element)
    style = value("font-style")
    return DeclaredFont(
        Source(element.location),
        family,
        name,
        value("index") or 0,
        value("font-weight"),
        value("font-stretch"),
        None if style is None else style == "italic",
        value("font-variation-settings") or (),
    )


def make_style_sheet(root: Element) -> StyleSheet:
    """Return the style sheet of the colours and styles a document declares.

    Errors in them are reported by the checks of the text and left out here: a style refers only to
    what is declared.
    """
    colors = {}
    for element in root.elements("color"):
        color = read_attribute(element, "value") or BLACK
        ink = element.attributes.get("spot", "")
        colors[element.attributes.get("name", "")] = color._replace(ink=ink)
    families = {page.attributes.get("name", DEFAULT_PAGE_FAMILY) for page in root.elements("page")}
    families.add(DEFAULT_PAGE_FAMILY)
    read = _StyleReader(root, frozenset(colors), frozenset(families)).read
    styles = list(root.elements("style"))
    by_element = {e.attributes["element"]: read(e) for e in styles if "element" in e.attributes}
    by_name = {e.attributes["name"]: read(e) for e in styles if "name" in e.attributes}
    return StyleSheet(colors, by_name, by_element, frozenset(families))


class _StyleReader:
    """Reads `style` elements with the names that their properties may refer to."""

    def __init__(self, root: Element, colors: frozenset[str], families: frozenset[str]) -> None:
        self._colors = colors
        self._families = families
        self._named = {
            e.attributes["name"]: e for e in root.elements("style") if "name" in e.attributes
        }
        self._read: dict[str, Properties] = {}

    def read(self, element: Element) -> Properties:
        """Return the properties of a style and of those it extends, each of which is read once."""
        chain: list[Element] = []
        below: Properties = NO_PROPERTIES
        following: Element | None = element
        while following is not None and len(chain) <= len(self._named):  # more is a circle
            chain.append(following)
            name = following.attributes.get("extends", "")
            if name in self._read:
                below = self._read[name]
                break
            following = self._named.get(name)
        for style in reversed(chain):
            below = {**below, **self._own(style)}
            if self._named.get(style.attributes.get("name", "")) is style:
                self._read[style.attributes["name"]] = below
        return below

    def _own(self, element: Element) -> Properties:
        own: dict[str, object] = {}
        for name, text in element.attributes.items():
            spec = ELEMENTS["style"].attributes.get(name)
            if spec is None or name in ("name", "element", "extends", "final"):
                continue
            value = spec.read(text)
            is_none = text.strip() in ("none", "transparent")
            if (value is not None or is_none) and self._is_declared(name, value):
                own[name] = value
        if own.get("number") is not None:
            own.setdefault("counter", counter_of(element))
        return expand_shorthands(own)

    def _is_declared(self, name: str, value: object) -> bool:
        if name == "page":
            return value in self._families
        return all(color in self._colors for color in find_color_names(value))
