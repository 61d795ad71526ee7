"""Composition: a template merged with the templates that it extends and imports from.

A template that extends another is overlaid on it, as an XML payload is overlaid on a template. An
import adds the declarations of another template, which its own replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.diagnostics import (
    Diagnostic,
    Findings,
    Linkage,
    Origin,
    Severity,
    SourceLocation,
)
from workers.engine.syntax.checks import shorten_text
from workers.engine.syntax.nodes import Element, Key, SyntaxTree, key_of
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.values import TEMPLATE_REFERENCE

# Elements whose attributes are merged; those of the payload override those of the template.
_SETTINGS: Final = frozenset({"security", "setting"})
# Elements whose children are overlaid.
_SECTIONS: Final = frozenset({"data", "messages"})


def overlay_document(template: Element, payload: Element, findings: Findings) -> Element:
    """Return the overlay of a payload's root on a template's.

    Neither root is modified; elements keep the locations of their own text. Reports each element
    that would replace one with final="true".
    """
    merged = _overlay_children(template, payload, findings)
    if payload.attributes:
        merged.location = payload.location  # errors in attributes are reported at the payload
    return merged


def _overlay_children(template: Element, payload: Element, findings: Findings) -> Element:
    attributes = template.attributes | payload.attributes
    merged = Element(template.tag, attributes, template.location, list(template.children))
    positions: dict[Key | None, int] = {
        key_of(child): position
        for position, child in enumerate(merged.children)
        if isinstance(child, Element)
    }
    positions.pop(None, None)  # elements without a key are appended
    for child in payload.children:
        # Each element is replaced once; a second one of its key is appended and reported later.
        position = positions.pop(key_of(child), None) if isinstance(child, Element) else None
        present = None if position is None else merged.children[position]
        if position is not None and isinstance(present, Element) and isinstance(child, Element):
            merged.children[position] = _replace(present, child, findings)
        else:
            merged.children.append(child)
    return merged


def _replace(present: Element, child: Element, findings: Findings) -> Element:
    """Return the replacement of an element: that of the payload, both merged, or itself if final."""
    if present.attributes.get("final", "").strip() == "true":
        message = f"{_describe_part(child)} may not be replaced: the template declares it final"
        findings.error("final", message, child.location)
        return present
    if child.tag in _SECTIONS:
        return _overlay_children(present, child, findings)
    if child.tag in _SETTINGS:
        return Element(
            child.tag, present.attributes | child.attributes, child.location, child.children
        )
    return child


def _describe_part(element: Element) -> str:
    keys = ("name", "element", "family", "key")
    name = next(filter(None, map(element.attributes.get, keys)), None)
    return f'`{element.tag}` "{shorten_text(name)}"' if name else f"`{element.tag}`"


MAX_LINK_DEPTH: Final = 8  # templates that extend or import each other
MAX_LINKS: Final = 32  # `extends` and `import` of one document, in all its templates
_PUBLIC: Final = "service-"  # templates of the product, which change with a release alone
# Of another template, an import takes these.
IMPORTED: Final = frozenset({"setting", "part", "style", "color", "font", "messages"})


def compose_template(source: bytes, linked: Mapping[str, bytes]) -> SyntaxTree:
    """Parse a template, and merge it with those it links to.

    `linked` has their texts by reference as written; links that it lacks are errors.
    """
    tree = parse_document(source, origin=Origin.TEMPLATE)
    if tree.root is None or not _find_links(tree.root):
        return tree
    moving = tuple(
        _warn_moving(reference, location)
        for _, reference, location in _find_links(tree.root)
        if not reference.rpartition("@")[2].isdigit() and not reference.startswith(_PUBLIC)
    )
    composed = _Composer(linked, tree.findings).compose(tree.root, ())
    return SyntaxTree(composed, tree.findings, moving)


def _warn_moving(reference: str, location: SourceLocation) -> Diagnostic:
    text = (
        f'"{shorten_text(reference)}" names other content once that changes, and documents with it. A '
        "published version keeps what it names now; or name a version by its number"
    )
    return Diagnostic(Severity.WARNING, "moving-link", text, (location,))


def check_links(root: Element, findings: Findings) -> None:
    """Report links in a text that is not a stored template: they are not resolved."""
    for _, _, location in _find_links(root):
        findings.error(
            "misplaced-link",
            "`extends` and `import` are for templates; send a document that extends one with the "
            "query parameter template, or store it as a template",
            location,
        )


def _find_links(root: Element) -> list[tuple[str, str, SourceLocation]]:
    """Return the attribute, reference and location of each link."""
    links = [
        ("template", each.attributes.get("template", ""), each.location)
        for each in root.elements("import")
    ]
    if "extends" in root.attributes:
        links.insert(0, ("extends", root.attributes["extends"], root.location))
    return links


class _Composer:
    """Merges the templates of one document; `path` are the references that lead to a template."""

    def __init__(self, linked: Mapping[str, bytes], findings: Findings) -> None:
        self._linked = linked
        self._findings = findings
        self._count = 0

    def compose(self, root: Element, path: tuple[str, ...]) -> Element:
        """Return a root with its links replaced by what they lead to."""
        base: Element | None = None
        imported: dict[object, Element] = {}
        for attribute, reference, location in _find_links(root):
            linked = self._load(attribute, reference, location, path)
            if linked is None:
                continue
            if attribute == "extends":
                base = linked
            else:
                self._import(linked, reference, location, imported)
        own = Element(
            root.tag,
            {name: value for name, value in root.attributes.items() if name != "extends"},
            root.location,
            [
                each
                for each in root.children
                if not isinstance(each, Element) or each.tag != "import"
            ],
        )
        if imported:
            declarations = Element(root.tag, {}, root.location, list(imported.values()))
            base = (
                declarations
                if base is None
                else overlay_document(base, declarations, self._findings)
            )
        return own if base is None else overlay_document(base, own, self._findings)

    def _import(
        self,
        linked: Element,
        reference: str,
        location: SourceLocation,
        imported: dict[object, Element],
    ) -> None:
        """Add the declarations of a template; two imports must not declare the same."""
        for child in linked.elements():
            if child.tag not in IMPORTED:
                continue
            key: object = key_of(child) or child
            if key in imported:
                name = child.attributes.get("name") or child.attributes.get("element") or child.tag
                self._findings.error(
                    "import-conflict",
                    f'The import of "{shorten_text(reference)}" declares `{child.tag}` "{shorten_text(name)}", as '
                    "another import does; import it from one template, or declare it in this one",
                    location,
                )
                continue
            imported[key] = child

    def _load(
        self, attribute: str, reference: str, location: SourceLocation, path: tuple[str, ...]
    ) -> Element | None:
        """Return the composed root of a linked template; None if it cannot be composed, which is reported."""
        problem = self._check(attribute, reference, path)
        if problem is not None:
            self._findings.error(*problem, location)
            return None
        linkage = Linkage(reference, location)
        tree = parse_document(self._linked[reference], origin=Origin.TEMPLATE, linkage=linkage)
        self._findings.extend(tree.findings)
        if tree.root is None:
            return None
        return self.compose(tree.root, (*path, reference))

    def _check(
        self, attribute: str, reference: str, path: tuple[str, ...]
    ) -> tuple[str, str] | None:
        """Return the code and message of the error in a link, None without one."""
        self._count += 1
        try:
            TEMPLATE_REFERENCE.parse(reference)
        except ValueError:
            return "wrong-value", (
                f'`{attribute}` is "{shorten_text(reference)}", accepted is {TEMPLATE_REFERENCE.accepts}'
            )
        chain = " → ".join((*path, reference))
        if reference in path:
            return "link-circle", f"The templates lead back to each other: {chain}"
        if len(path) >= MAX_LINK_DEPTH:
            return "link-depth", (
                f"More than {MAX_LINK_DEPTH} templates extend or import each other: {chain}"
            )
        if self._count > MAX_LINKS:
            return "too-many-links", f"The templates have more than {MAX_LINKS} links in all"
        if reference not in self._linked:
            return "unknown-template", (
                f'There is no template with a version or tag "{reference}"'
                f"{f', which {path[-1]} links to' if path else ''}"
            )
        return None
