"""Static checks of a syntax tree: names, nesting, values, references and keys.

Warns of unused styles, flows and parts, and of styles with properties without effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.fonts import EXTRA_FAMILIES, FAMILIES, FAMILY_ALIASES, GENERIC_FAMILIES
from workers.engine.syntax.element_checks import BODY, colors_in, find_problems, is_strict
from workers.engine.syntax.nodes import ALERTS, Element, Expansion, Key, PartExpansion, Text, key_of
from workers.engine.syntax.suggestions import join_words, suggest_element, suggest_if_listed
from workers.engine.syntax.values import NAME, NAMES, ColorName
from workers.engine.syntax.vocabulary import (
    ELEMENTS,
    GROUP_LIKE,
    PROPERTIES,
    AttributeSpec,
    ContentModel,
    ElementSpec,
    read_attribute,
)
from workers.engine.units import NAMED_COLORS

MAX_SHOWN: Final = 40  # characters of a quoted text in a message
_WITH_ALT: Final = frozenset({"img", "barcode"})
_ANYTHING: Final = frozenset({"part", "use"})  # their content depends on where they are used
_WITH_VALUE: Final = frozenset({"markdown", "attachment"})


def check_document(root: Element) -> Findings:
    """Return every error of a document that can be found without data.

    `root` has its parts expanded already (part_expansion.py). Values that hold `{{ }}` are skipped;
    the tree stage parses them with the same value types.
    """
    findings = Findings()
    if root.tag != "document":
        findings.error(
            "root", f"The root element is `{root.tag}`, accepted is `document`", root.location
        )
        return findings
    _DocumentChecker(root, findings).check()
    return findings


def shorten_text(text: str) -> str:
    """Return a text for a message: on one line, at most `MAX_SHOWN` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


_FORCING: Final = frozenset(("page", "column", "left", "right", "area"))
_UNBROKEN: Final = frozenset(("td", "th", "header", "footer", "footnote", "grid"))


class _DocumentChecker:
    """Checks one document in one walk, against the names that it declares."""

    def __init__(self, root: Element, findings: Findings) -> None:
        self._root = root
        self._findings = findings
        self._styles = _declared_names(root.elements("style"))
        # By attribute: what it names, and the names that are declared.
        self._declared: Mapping[str, tuple[str, Collection[str]]] = {
            "class": ("style", self._styles),
            "extends": ("style", self._styles),
            "flow": ("flow", {read_attribute(flow, "name") for flow in root.elements("flow")}),
            "page": (
                "page",
                {"default", *(read_attribute(p, "name") for p in root.elements("page"))},
            ),
        }
        self._colors = _declared_names(root.elements("color"))
        self._families = {
            font.attributes.get("family", "").strip() for font in root.elements("font")
        }
        self._ids: dict[str, SourceLocation] = {}
        self._is_strict = is_strict(root)
        # That contain the element being checked, innermost last.
        self._uses: list[PartExpansion] = []
        self._idle_breaks = frozenset[str]()

    def check(self) -> None:
        self._check_element(self._root, ELEMENTS["document"])
        self._check_keys()
        self._check_style_chains()
        for code, message, *elements in find_problems(self._root, self._findings):
            self._findings.error(code, message, *(each.location for each in elements))

    # --- elements -----------------------------------------------------------------------------------

    def _check_element(self, element: Element, spec: ElementSpec) -> None:
        """Check an element and its descendants; for a transparent element `spec` is that of its parent."""
        own = ELEMENTS[element.tag]
        self._check_attributes(element, own)
        self._check_element_rules(element)
        outer = self._idle_breaks
        if element.tag in _UNBROKEN or element.attributes.get("height", "auto") != "auto":
            self._idle_breaks = _FORCING
        if "columns" in element.attributes:
            self._idle_breaks -= {"column"}
        uses = [element] if isinstance(element, PartExpansion) and not element.is_unused else []
        self._uses += uses
        for child in element.children:
            if isinstance(child, Text):
                self._check_text(child, element, spec)
            else:
                self._check_child(child, element, spec)
        self._idle_breaks = outer
        if uses:
            self._uses.pop()

    def _check_child(self, child: Element, parent: Element, spec: ElementSpec) -> None:
        child_spec = ELEMENTS.get(child.tag)
        if child_spec is None:
            self._findings.error(
                "unknown-element", self._unknown_element(child, spec), child.location
            )
            return
        if child.tag not in spec.children:
            location = child.source_location if isinstance(child, Expansion) else child.location
            tag = location.tag_name if isinstance(child, Expansion) else child.tag
            message = f"`{tag}` is not allowed in `{self._containing_tag(parent, spec)}`; {_list_parents(tag)}"
            self._findings.error(
                "misplaced-element", message, location, *self._locations_of(parent)
            )
        self._check_element(
            child, spec if child_spec.content is ContentModel.TRANSPARENT else child_spec
        )

    def _check_text(self, text: Text, parent: Element, spec: ElementSpec) -> None:
        if spec.allows_text or not text.text.strip():
            return
        what = (
            f'`{self._containing_tag(parent, spec)}` contains the text "{shorten_text(text.text)}"'
        )
        message = f"{what}; accepted is {_list_content(spec)}"
        self._findings.error("misplaced-text", message, *self._locations_of(parent))

    def _containing_tag(self, parent: Element, spec: ElementSpec) -> str:
        """Return the parent tag for messages; an expansion has that of the element around it."""
        return spec.name if isinstance(parent, Expansion) else parent.tag

    def _locations_of(self, parent: Element) -> tuple[SourceLocation, ...]:
        """Return the location of an element, followed by that of the `use` that inserts it."""
        if self._uses and isinstance(parent, Expansion):
            return parent.location, self._uses[-1].source_location
        return (parent.location,)

    # --- attributes ---------------------------------------------------------------------------------

    def _check_attributes(self, element: Element, spec: ElementSpec) -> None:
        for name, text in element.attributes.items():
            attribute = spec.attributes.get(name)
            if attribute is None:
                message = self._unknown_attribute(element, name, spec)
                self._error("unknown-attribute", message, element)
            else:
                self._check_value(element, attribute, text)
        for attribute in spec.attributes.values():
            if attribute.is_required and attribute.name not in element.attributes:
                what = f"`{element.tag}` has no `{attribute.name}`, which it needs"
                accepted = attribute.value_type.accepts
                self._error("missing-attribute", f"{what}: {accepted}", element)
            elif attribute.name == "flow" and attribute.name not in element.attributes:
                self._check_references(element, attribute, attribute.read(None))

    def _check_value(self, element: Element, attribute: AttributeSpec, text: str) -> None:
        if "{{" in text and not attribute.is_expression and not element.is_literal:
            if attribute.is_fixed:
                what = f"`{attribute.name}` of `{element.tag}` is read before any data are known"
                accepted = f"and takes no {{{{ }}}}; accepted is {attribute.value_type.accepts}"
                self._error("fixed-attribute", f"{what} {accepted}", element)
            return
        try:
            value = attribute.value_type.parse(text)
        except ValueError as error:
            name, shown = attribute.name, _displayed_value(attribute, text)
            near = suggest_if_listed(self._findings, text, attribute.value_type.choices)
            message = f'`{name}` of `{element.tag}` is "{shown}", accepted is {error}{near}'
            self._error("wrong-value", message, element)
            return
        self._check_references(element, attribute, value)

    def _check_references(self, element: Element, attribute: AttributeSpec, value: Any) -> None:
        name = attribute.name
        for color in find_color_names(value):
            if color not in self._colors:
                self._report_unknown(
                    element, "color", "colour", color, {*self._colors, *NAMED_COLORS}
                )
        if name == "font-family":
            self._check_families(element, value)
        elif name == "id":
            self._check_id(element, value)
        elif name in self._declared and attribute.value_type in (NAME, NAMES):
            what, declared = self._declared[name]
            for each in (value,) if isinstance(value, str) else value:
                if each not in declared:
                    self._report_unknown(element, what, what, each, declared)

    def _report_unknown(
        self, element: Element, code: str, what: str, name: str, known: Iterable[str]
    ) -> None:
        near = suggest_if_listed(self._findings, name, known)
        message = f'The {what} "{name}" of `{element.tag}` is not declared{near}'
        self._error(f"unknown-{code}", message, element)

    def _check_families(self, element: Element, families: tuple[str, ...]) -> None:
        further = (*EXTRA_FAMILIES, *GENERIC_FAMILIES, *FAMILY_ALIASES)
        names = (*self._families, *FAMILIES, *further)
        known = {name.casefold() for name in names}
        unknown = [family for family in families if family.casefold() not in known]
        for family in unknown:
            message = (
                f'The font family "{family}" of `{element.tag}` is neither declared nor installed'
                f"{suggest_if_listed(self._findings, family, names)}; there are "
                + ", ".join((*sorted(self._families)[:10], *FAMILIES, *GENERIC_FAMILIES))
            )
            is_error = len(unknown) == len(families)
            report = self._findings.error if is_error else self._findings.warn
            report("unknown-font", message, element.location)

    def _check_id(self, element: Element, value: str) -> None:
        first = self._ids.setdefault(value, element.location)
        if first is not element.location:
            what = f"is already that of `{first.tag_name}` in line {first.span.line_start}"
            advice = "an id is unique in the document"
        elif "for" in element.attributes:
            what = "repeats in each iteration of its `for`"
            advice = "let it contain an expression"
        else:
            return
        message = f'The id "{value}" of `{element.tag}` {what}; {advice}'
        self._error("duplicate-id", message, element)

    def _unknown_element(self, element: Element, parent: ElementSpec) -> str:
        if ":" in element.tag:
            return f"`{shorten_text(element.tag)}` has a prefix; the language uses no namespaces"
        is_listed = self._findings.has_room_for_errors
        near = suggest_element(element.tag, parent.children) if is_listed else ""
        return f"`{shorten_text(element.tag)}` is not an element of the language{near}"

    def _unknown_attribute(self, element: Element, name: str, spec: ElementSpec) -> str:
        if not spec.attributes:
            return f"`{element.tag}` has the attribute `{shorten_text(name)}`, but takes none"
        if name in PROPERTIES:
            return f"`{name}` has no effect on `{element.tag}`, so it is not accepted there"
        near = suggest_if_listed(self._findings, name, spec.attributes)
        return f"`{element.tag}` has no attribute `{shorten_text(name)}`{near}"

    # --- single rules -------------------------------------------------------------------------------

    def _check_element_rules(self, element: Element) -> None:
        if element.tag in _WITH_ALT and "alt" not in element.attributes:
            report = self._findings.error if self._is_strict else self._findings.warn
            message = f'`{element.tag}` has no `alt`; describe what it shows, or write alt="" for decoration'
            report("missing-alt", message, element.location)
        if element.tag == "watermark":
            self._check_watermark(element)
        if element.tag == "figure":
            self._check_captions(element)
        if element.tag == "style":
            self._check_style(element)
        breaks = {element.attributes.get("break-before"), element.attributes.get("break-after")}
        if element.tag == "break":
            breaks.add(element.attributes.get("to", "page"))
        if self._idle_breaks & breaks:
            message = "A forced break has no effect in a header, footer, note or grid, nor in a box with a height; in a cell it has one only where its row is broken"
            self._findings.warn("no-effect", message, element.location)
        if element.tag in _WITH_VALUE and "value" in element.attributes and element.text.strip():
            message = f"`{element.tag}` has both `value` and text in it; it takes one of them"
            self._error("two-values", message, element)

    def _check_watermark(self, element: Element) -> None:
        if len(element.attributes.keys() & {"text", "src"}) != 1:
            self._error("watermark-content", "`watermark` takes either `text` or `src`", element)
        idle = sorted(element.attributes.keys() & {"font-size", "color"})
        if "src" in element.attributes and idle:
            message = f"`{'` and `'.join(idle)}` of a `watermark` with `src` have no effect"
            self._findings.warn("no-effect", message, element.location)

    def _check_captions(self, figure: Element) -> None:
        for caption in figure.elements("caption"):
            if "on" in caption.attributes:
                message = (
                    "`on` of the `caption` of a `figure` has no effect: a figure is not broken"
                )
                self._error("no-effect", message, caption)

    def _check_style(self, element: Element) -> None:
        named = element.attributes.keys() & {"name", "element"}
        if len(named) != 1:
            has = "both `name` and" if named else "neither `name` nor"
            message = f"`style` has {has} `element`; it needs exactly one of them"
            self._error("style-key", message, element)
        target = element.attributes.get("element")
        if target is not None and target not in ELEMENTS:
            near = suggest_element(target, ELEMENTS) if self._findings.has_room_for_errors else ""
            shown = shorten_text(target)
            message = f'`style` is for the element "{shown}", which is not in the language{near}'
            self._error("unknown-element", message, element)

    def _check_style_chains(self) -> None:
        parents = {
            style.attributes["name"]: style.attributes.get("extends")
            for style in self._root.elements("style")
            if "name" in style.attributes
        }
        circular = _find_cycles(parents)
        for style in self._root.elements("style"):
            parent = style.attributes.get("extends")
            if parent is not None and style.attributes.get("name") in circular:
                message = (
                    f'The style "{style.attributes["name"]}" extends itself, through "{parent}"'
                )
                self._error("style-circle", message, style)

    # --- keys ---------------------------------------------------------------------------------------

    def _check_keys(self) -> None:
        """Report each declaration whose key is already taken, of messages in their language."""
        data = [child for each in self._root.elements("data") for child in each.elements()]
        self._check_unique([*self._root.elements(), *data])
        for messages in self._root.elements("messages"):
            self._check_unique(messages.elements("message"))

    def _check_unique(self, parts: Iterable[Element]) -> None:
        seen: dict[Key, SourceLocation] = {}
        for part in parts:
            key = _unique_key_of(part)
            first = part.location if key is None else seen.setdefault(key, part.location)
            if key is not None and first is not part.location:
                what = f"{_describe_part(part, key)} is declared twice"
                message = f"{what}, first in line {first.span.line_start}"
                self._error("duplicate-key", message, part)

    def _error(self, code: str, message: str, element: Element) -> None:
        self._findings.error(code, message, element.location)


def _unique_key_of(element: Element) -> Key | None:
    """Return the key that must be unique among declarations, None for elements without one."""
    match element.tag:
        case "einvoice":
            return None  # each may have an `if`
        case "json" | "sample":
            # That of a payload is merged into that of its template, and that into those it extends.
            location = element.location
            return element.tag, f"{location.origin} {location.linkage}", ""
        case "field" | "dataset" | "let":  # which share one namespace
            key = key_of(element)
            return key and ("value", *key[1:])
        case _:
            return key_of(element)


def _describe_part(part: Element, key: Key) -> str:
    return f'`{part.tag}` "{shorten_text(key[2])}"' if key[2] else f"`{part.tag}`"


def _declared_names(elements: Iterable[Element]) -> frozenset[str]:
    return frozenset(e.attributes["name"] for e in elements if "name" in e.attributes)


def _find_cycles(parents: Mapping[str, str | None]) -> frozenset[str]:
    """Return the names that are part of a cycle, in time linear in their number."""
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


def find_color_names(value: object) -> Iterator[str]:
    """Return the colour names in a value that are not CSS names and need a `color` element."""
    colors = (color for color in colors_in(value) if isinstance(color, ColorName))
    return (color.name for color in colors if color.standard is None)


def _displayed_value(attribute: AttributeSpec, text: str) -> str:
    return "…" if attribute.name.endswith("password") else shorten_text(text)


def _list_parents(tag: str) -> str:
    holders = [spec for spec in ELEMENTS.values() if tag in spec.children]
    parents = [f"`{spec.name}`" for spec in holders if spec.name not in _ANYTHING]
    if not parents:
        return "it is the root"
    more = f" and {len(parents) - 8} more" if len(parents) > 8 else ""
    return f"it is allowed in {', '.join(parents[:8])}{more}"


def _list_content(spec: ElementSpec) -> str:
    if not spec.children:
        return "nothing"
    children = sorted(spec.children - GROUP_LIKE)
    return "only " + ", ".join(f"`{child}`" for child in children)


# Row groups and rows pass it on to their cells.
_PASSED_TO_CELLS: Final = "vertical-align"
_ROWS: Final = frozenset({"thead", "tbody", "tfoot", "tr"})
# Elements without a box or text of their own; their descendants inherit from them.
_PASSING_ON_INHERITED: Final = frozenset({"document", "group"})
# The box of an inserted flow accepts all properties.
_EXEMPT: Final = frozenset({"insert", "assert"})
_ENTRY_STYLES: Final = {
    "toc": tuple(f"toc-{level}" for level in range(1, 7)),
    "index": ("index-1", "index-2", "index-3", "index-letter"),
    **dict.fromkeys(("footnote", "markdown"), ("footnote-call", "footnote-rule")),
    "figure": ("figure-caption",),
    # A Markdown payload may replace any of them.
    "flow": ("alert", "alert-title", *(f"alert-{kind}" for kind in ALERTS)),
}
_KEYS: Final = frozenset({"name", "element", "extends", "final"})


def check_usage(root: Element, findings: Findings) -> None:
    """Warn of unused styles, flows and parts; of linked templates, flows alone must be used."""
    styles = {style.attributes.get("extends", "") for style in root.elements("style")}
    styles |= _find_entry_styles(root)
    flows, parts, is_open = {BODY}, set[str](), False
    for element in root.walk():
        classes = element.attributes.get("class", "")
        is_open = is_open or "{{" in classes  # an expression may name any style
        styles.update(classes.split())
        if element.tag in ("insert", "area"):
            flows.add(element.attributes.get("flow", BODY))
        if isinstance(element, PartExpansion) and not element.is_unused:
            parts.add(element.name)
    for flow in root.elements("flow"):
        name = flow.attributes.get("name", BODY)
        if name not in flows:
            message = f'The flow "{name}" is never drawn: no `insert` and no `area` names it'
            findings.warn("unused-flow", message, flow.location)
    for part in _own_elements(root, "part"):
        name = part.attributes.get("name", "")
        if name not in parts:
            findings.warn("unused-part", f'The part "{name}" is never used', part.location)
    for style in () if is_open else _own_elements(root, "style"):
        name = style.attributes.get("name", "")
        if name and name not in styles:
            message = f'The style "{name}" is used by no element'
            findings.warn("unused-style", message, style.location)


def _own_elements(root: Element, tag: str) -> Iterator[Element]:
    return (each for each in root.elements(tag) if each.location.linkage is None)


def check_effects(root: Element, findings: Findings) -> None:
    """Warn of properties in a style that have no effect on the elements it applies to."""
    named = (style for style in root.elements("style") if "name" in style.attributes)
    styles = {style.attributes["name"]: style for style in named}
    for style in root.elements("style"):
        target = style.attributes.get("element")
        if target is not None and target in ELEMENTS and "name" not in style.attributes:
            _warn_of_idle("This `style`", style.attributes, target, style, findings)
    checked: set[tuple[str, str]] = set()
    for element in root.walk():
        classes, tag = element.attributes.get("class", ""), element.tag
        if "{{" in classes or tag not in ELEMENTS or tag in _EXEMPT:
            continue
        for name in classes.split():
            if name in styles and (tag, name) not in checked:
                checked.add((tag, name))
                given = _properties_of(name, styles)
                _warn_of_idle(f'The style "{name}"', given, tag, element, findings)


def _warn_of_idle(
    what: str, given: Mapping[str, str], tag: str, element: Element, findings: Findings
) -> None:
    if idle := _find_ineffective(given, tag):
        message = f"{what} gives `{tag}` {join_words(idle, 'and')}, which has no effect there"
        findings.warn("no-effect", message, element.location)


def _properties_of(name: str, styles: Mapping[str, Element]) -> dict[str, str]:
    """Return the attributes of a style merged with those it extends; cycles are reported elsewhere."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    while name in styles and name not in seen:
        seen.add(name)
        attributes = styles[name].attributes
        found = {**attributes, **found}
        name = attributes.get("extends", "")
    return found


def _find_entry_styles(root: Element) -> frozenset[str]:
    """Return the styles that contents, indexes and notes use implicitly."""
    tags = {element.tag for element in root.walk() if element.tag in _ENTRY_STYLES}
    return frozenset(name for tag in tags for name in _ENTRY_STYLES[tag])


def _find_ineffective(given: Mapping[str, str], tag: str) -> list[str]:
    """Return the properties among `given` that have no effect on an element of a tag."""
    accepted = ELEMENTS[tag].attributes
    known = ELEMENTS["style"].attributes
    return [
        name
        for name in given
        if name in known
        and name not in _KEYS
        and name not in accepted
        and not (tag in _ROWS and name == _PASSED_TO_CELLS)
        and not (
            tag in _PASSING_ON_INHERITED and name in PROPERTIES and PROPERTIES[name].is_inherited
        )
    ]
