"""What can be told wrong of a tree before any data are known: names, places, values, references, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from workers.engine.diagnostics import Findings, Place
from workers.engine.syntax.colors import NAMED_COLORS
from workers.engine.syntax.nodes import Element, SyntaxTree, Text
from workers.engine.syntax.number_checks import check_numbers
from workers.engine.syntax.page_checks import check_pages
from workers.engine.syntax.profile_checks import check_profile
from workers.engine.syntax.suggestions import nearest, nearest_element
from workers.engine.syntax.values import (
    FONT_FAMILIES,
    GENERIC_FAMILIES,
    OTHER_FAMILIES,
    BorderValue,
    ColorName,
)
from workers.engine.syntax.vocabulary import (
    ELEMENTS,
    PROPERTIES,
    AttributeSpec,
    Content,
    ElementSpec,
)

MAX_SHOWN: Final = 40  # characters of what was written, in a message
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_WITH_ALT: Final = frozenset({"img", "barcode"})
_WEIGHTS: Final = {"normal": "400", "bold": "700"}
_WITH_VALUE: Final = frozenset({"markdown", "attachment"})


def check_tree(tree: SyntaxTree) -> Findings:
    """Check a parsed text on its own; gives the parser's findings and all of `check_document`'s."""
    findings = Findings()
    findings.extend(tree.findings)
    if tree.root is not None:
        findings.extend(check_document(tree.root))
    return findings


def check_document(root: Element) -> Findings:
    """Find every mistake of a whole document that needs no data: of one text, or merged.

    Values that hold `{{ }}` are left to build, which reads them through the same kinds.
    """
    findings = Findings()
    if root.tag != "document":
        findings.error(
            "root",
            f"The root element is `{root.tag}`, accepted is `document`",
            root.place,
        )
        return findings
    _Checker(root, findings).check()
    return findings


def shown(text: str) -> str:
    """Give a text as messages quote it: on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


class _Checker:
    """One walk over one document, with what its parts may refer to."""

    def __init__(self, root: Element, findings: Findings) -> None:
        self._root = root
        self._findings = findings
        self._styles = _names(root.elements("style"))
        self._colors = _names(root.elements("color"))
        self._families = {
            font.attributes.get("family", "").strip() for font in root.elements("font")
        }
        self._flows = {flow.attributes.get("name", "body") for flow in root.elements("flow")}
        self._ids: dict[str, Place] = {}
        self._heading = 0

    def check(self) -> None:
        self._check_element(self._root, ELEMENTS["document"])
        self._check_keys()
        self._check_style_chains()
        check_pages(self._root, self._findings)
        check_profile(self._root, self._findings)
        check_numbers(self._root, self._findings)

    # --- elements -----------------------------------------------------------------------------------

    def _check_element(self, element: Element, spec: ElementSpec) -> None:
        """Check one element and all below it; `spec` of a group is what its parent may hold."""
        own = ELEMENTS[element.tag]
        self._check_attributes(element, own)
        self._check_particulars(element)
        for child in element.children:
            if isinstance(child, Text):
                self._check_text(child, element, spec)
            else:
                self._check_child(child, element, spec)

    def _check_child(self, child: Element, parent: Element, spec: ElementSpec) -> None:
        child_spec = ELEMENTS.get(child.tag)
        if child_spec is None:
            self._findings.error("unknown-element", self._unknown_element(child, spec), child.place)
            return
        if child.tag not in spec.children:
            self._findings.error(
                "misplaced-element",
                f"`{child.tag}` may not stand in `{parent.tag}`; {_where_it_stands(child.tag)}",
                child.place,
                parent.place,
            )
        self._check_element(child, spec if child_spec.content is Content.PARENT else child_spec)

    def _check_text(self, text: Text, parent: Element, spec: ElementSpec) -> None:
        if spec.takes_text or not text.text.strip():
            return
        self._findings.error(
            "misplaced-text",
            f'`{parent.tag}` holds the text "{shown(text.text)}", accepted in it is '
            f"{_may_hold(spec)}",
            parent.place,
        )

    # --- attributes ---------------------------------------------------------------------------------

    def _check_attributes(self, element: Element, spec: ElementSpec) -> None:
        for name, text in element.attributes.items():
            attribute = spec.attributes.get(name)
            if attribute is None:
                self._findings.error(
                    "unknown-attribute",
                    self._unknown_attribute(element, name, spec),
                    element.place,
                )
            else:
                self._check_value(element, attribute, text)
        for attribute in spec.attributes.values():
            if attribute.is_required and attribute.name not in element.attributes:
                self._findings.error(
                    "missing-attribute",
                    f"`{element.tag}` has no `{attribute.name}`, which it needs: "
                    f"{attribute.kind.accepts}",
                    element.place,
                )

    def _check_value(self, element: Element, attribute: AttributeSpec, text: str) -> None:
        if "{{" in text and not attribute.is_expression and not element.is_literal:
            if attribute.is_fixed:
                self._findings.error(
                    "fixed-attribute",
                    f"`{attribute.name}` of `{element.tag}` is read before any data are known and"
                    f" takes no {{{{ }}}}; accepted is {attribute.kind.accepts}",
                    element.place,
                )
            return
        try:
            value = attribute.kind.parse(text)
        except ValueError as error:
            self._findings.error(
                "wrong-value",
                f'`{attribute.name}` of `{element.tag}` is "{_hidden(attribute, text)}", accepted is '
                f"{error}{self._nearest(text, attribute.kind.choices)}",
                element.place,
            )
            return
        self._check_references(element, attribute.name, value)

    def _check_references(self, element: Element, name: str, value: Any) -> None:
        for color in color_names(value):
            if color not in self._colors:
                self._unknown(element, "color", "colour", color, {*self._colors, *NAMED_COLORS})
        match name:
            case "class":
                for style in value:
                    if style not in self._styles:
                        self._unknown(element, "style", "style", style, self._styles)
            case "font-family":
                self._check_families(element, value)
            case "id":
                self._check_id(element, value)
            case "flow" if element.tag == "insert" and value not in self._flows:
                self._unknown(element, "flow", "flow", value, self._flows)

    def _unknown(
        self, element: Element, code: str, what: str, name: str, known: Iterable[str]
    ) -> None:
        self._findings.error(
            f"unknown-{code}",
            f'The {what} "{name}" of `{element.tag}` is declared nowhere{self._nearest(name, known)}',
            element.place,
        )

    def _check_families(self, element: Element, families: tuple[str, ...]) -> None:
        names = (*self._families, *FONT_FAMILIES, *GENERIC_FAMILIES, *OTHER_FAMILIES)
        known = {name.casefold() for name in names}
        unknown = [family for family in families if family.casefold() not in known]
        for family in unknown:
            message = (
                f'The font family "{family}" of `{element.tag}` is neither declared nor installed'
                f"{self._nearest(family, names)}; there are "
                + ", ".join((*sorted(self._families)[:10], *FONT_FAMILIES, *GENERIC_FAMILIES))
            )
            if len(unknown) == len(families):
                self._findings.error("unknown-font", message, element.place)
            else:
                self._findings.warn("unknown-font", message, element.place)

    def _check_id(self, element: Element, value: str) -> None:
        first = self._ids.setdefault(value, element.place)
        if first is not element.place:
            self._findings.error(
                "duplicate-id",
                f'The id "{value}" of `{element.tag}` is already that of `{first.tag_name}` in line '
                f"{first.span.line_start}; an id is unique in the document",
                element.place,
            )
        elif "for" in element.attributes:
            self._findings.error(
                "duplicate-id",
                f'The id "{value}" of `{element.tag}` repeats with every turn of its `for`; let it '
                "contain an expression",
                element.place,
            )

    def _unknown_element(self, element: Element, parent: ElementSpec) -> str:
        if ":" in element.tag:
            return f"`{shown(element.tag)}` has a prefix; the language uses no namespaces"
        is_listed = self._findings.lists_errors
        near = nearest_element(element.tag, parent.children) if is_listed else ""
        return f"`{shown(element.tag)}` is not an element of the language{near}"

    def _unknown_attribute(self, element: Element, name: str, spec: ElementSpec) -> str:
        if not spec.attributes:
            return f"`{element.tag}` has the attribute `{shown(name)}`, but takes none"
        if name in PROPERTIES:
            return f"`{name}` has no effect on `{element.tag}`, so it is not accepted there"
        near = self._nearest(name, spec.attributes)
        return f"`{element.tag}` has no attribute `{shown(name)}`{near}"

    def _nearest(self, word: str, words: Iterable[str]) -> str:
        """Suggest a right name, unless the error will only be counted: a suggestion is costly."""
        return nearest(word, words) if self._findings.lists_errors else ""

    # --- single rules -------------------------------------------------------------------------------

    def _check_particulars(self, element: Element) -> None:
        if element.tag in _WITH_ALT and "alt" not in element.attributes:
            self._findings.warn(
                "missing-alt",
                f'`{element.tag}` has no `alt`; say what it shows, or alt="" for decoration',
                element.place,
            )
        if element.tag == "flow":
            self._heading = 0
        if element.tag == "watermark":
            self._check_watermark(element)
        if element.tag in _HEADINGS:
            self._check_heading(element, _HEADINGS[element.tag])
        if element.tag == "style":
            self._check_style(element)
        if element.tag in _WITH_VALUE and "value" in element.attributes and element.text.strip():
            self._findings.error(
                "two-values",
                f"`{element.tag}` has both `value` and text in it; it takes one of them",
                element.place,
            )

    def _check_watermark(self, element: Element) -> None:
        if len(element.attributes.keys() & {"text", "src"}) != 1:
            self._findings.error(
                "watermark-content",
                "`watermark` takes either `text` or `src`",
                element.place,
            )
        idle = sorted(element.attributes.keys() & {"font-size", "color"})
        if "src" in element.attributes and idle:
            self._findings.warn(
                "no-effect",
                f"`{'` and `'.join(idle)}` of a `watermark` with `src` have no effect",
                element.place,
            )

    def _check_heading(self, element: Element, level: int) -> None:
        if self._heading and level > self._heading + 1:
            self._findings.warn(
                "heading-level",
                f"`{element.tag}` follows `h{self._heading}`; the level between them is skipped",
                element.place,
            )
        self._heading = level

    def _check_style(self, element: Element) -> None:
        named = element.attributes.keys() & {"name", "element"}
        if len(named) != 1:
            self._findings.error(
                "style-key",
                f"`style` has {'both' if named else 'neither'} `name` {'and' if named else 'nor'} "
                "`element`; it needs exactly one of them",
                element.place,
            )
        target = element.attributes.get("element")
        if target is not None and target not in ELEMENTS:
            self._findings.error(
                "unknown-element",
                f'`style` is for the element "{shown(target)}", which the language does not have'
                f"{nearest_element(target, ELEMENTS) if self._findings.lists_errors else ''}",
                element.place,
            )

    def _check_style_chains(self) -> None:
        parents = {
            style.attributes["name"]: style.attributes.get("extends")
            for style in self._root.elements("style")
            if "name" in style.attributes
        }
        circular = _find_circles(parents)
        for style in self._root.elements("style"):
            parent = style.attributes.get("extends")
            if parent is None:
                continue
            if parent not in self._styles:
                self._unknown(style, "style", "style", parent, self._styles)
            elif style.attributes.get("name") in circular:
                self._findings.error(
                    "style-circle",
                    f'The style "{style.attributes["name"]}" extends itself, through "{parent}"',
                    style.place,
                )

    # --- keys ---------------------------------------------------------------------------------------

    def _check_keys(self) -> None:
        """Tell the second of two parts that have the same key."""
        seen: dict[tuple[str, str], Place] = {}
        for part in self._keyed_parts():
            key = _key_of(part)
            if key is None:
                continue
            first = seen.setdefault(key, part.place)
            if first is not part.place:
                self._findings.error(
                    "duplicate-key",
                    f"{_named(part, key)} is declared twice, first in line {first.span.line_start}",
                    part.place,
                )

    def _keyed_parts(self) -> Iterator[Element]:
        yield from self._root.elements()
        for data in self._root.elements("data"):
            yield from data.elements()


def _key_of(element: Element) -> tuple[str, str] | None:
    """Give what a part is known by; two of one key cannot both hold. None for what has no key."""
    match element.tag:
        case "flow":
            return "flow", element.attributes.get("name", "body")
        case "page":
            on = element.attributes.get("on", "all")
            return f"page on {on}", element.attributes.get("name", "default")
        case "security" | "data":
            return element.tag, ""
        case "json":
            return f"json {element.place.origin}", ""  # a payload's is merged into its template's
        case "style" if "element" in element.attributes:
            return "style element", element.attributes["element"]
        case "font":
            return describe_font(element.attributes)
        case "field" | "dataset" | "let" | "style" | "color" | "attachment" if (
            "name" in element.attributes
        ):
            # A value is declared once, be it a field, a dataset or computed.
            space = "value" if element.tag in ("field", "dataset", "let") else element.tag
            return space, element.attributes["name"]
        case _:
            return None


def describe_font(attributes: Mapping[str, str]) -> tuple[str, str]:
    """Return what a `font` is known by: how it is used, and its family, in one spelling each.

    Two of one family, weight, style and width could not both be used. Where the font itself says
    what it is, it is known by its name.
    """
    weights = attributes.get("font-weight", "").split()
    uses = [
        " ".join(_WEIGHTS.get(word, word) for word in weights),
        *(attributes.get(name, "").strip() for name in ("font-style", "font-stretch")),
    ]
    if not any(uses):
        uses = [attributes.get(name, "").strip() for name in ("src", "index")]
    return f"font {','.join(uses)}", attributes.get("family", "").strip().casefold()


def _named(part: Element, key: tuple[str, str]) -> str:
    return f'`{part.tag}` "{shown(key[1])}"' if key[1] else f"`{part.tag}`"


def _names(elements: Iterable[Element]) -> frozenset[str]:
    return frozenset(e.attributes["name"] for e in elements if "name" in e.attributes)


def _find_circles(parents: Mapping[str, str | None]) -> frozenset[str]:
    """Return the names that lead back to themselves; each is followed once."""
    done: set[str] = set()
    circular: set[str] = set()
    for name in parents:
        path: dict[str, None] = {}
        step: str | None = name
        while step is not None and step not in done and step not in path:
            path[step] = None
            step = parents.get(step)
        if step in path:
            names = list(path)
            circular.update(names[names.index(step) :])
        done.update(path)
    return frozenset(circular)


def color_names(value: Any) -> Iterator[str]:
    """Yield the names in a value that only the document can declare."""
    if isinstance(value, ColorName) and value.standard is None:
        yield value.name
    elif isinstance(value, BorderValue):
        yield from color_names(value.color)
    elif type(value) is tuple:
        for part in value:
            yield from color_names(part)


def _hidden(attribute: AttributeSpec, text: str) -> str:
    return "…" if attribute.name.endswith("password") else shown(text)


def _where_it_stands(tag: str) -> str:
    parents = [f"`{spec.name}`" for spec in ELEMENTS.values() if tag in spec.children]
    if not parents:
        return "it is the root"
    more = f" and {len(parents) - 8} more" if len(parents) > 8 else ""
    return f"it stands in {', '.join(parents[:8])}{more}"


def _may_hold(spec: ElementSpec) -> str:
    if not spec.children:
        return "nothing"
    return "only " + ", ".join(f"`{child}`" for child in sorted(spec.children))
