"""Expansion of `use`, `slot` and `else`: one pass over a syntax tree.

The result has groups (nodes.Expansion) in place of these elements. Each records the names that are
in scope in it; later stages treat it like any other group.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.syntax.names import PARAMETERS
from workers.engine.syntax.nodes import (
    Element,
    ElseExpansion,
    Expansion,
    PartExpansion,
    PartParameter,
    SlotExpansion,
    Text,
)
from workers.engine.syntax.parser import MAX_DEPTH
from workers.engine.syntax.suggestions import join_words, suggest_name

MAX_USE_DEPTH: Final = 32  # nested uses of parts
MAX_EXPANDED: Final = 50_000  # elements that expansion adds to one document
_SPACE: Final = " \t\r\n"
_EXPANDED: Final = frozenset({"use", "else", "slot", "part"})
_OF_USE: Final = frozenset({"part", "for", "if"})
_CONTROLS: Final[tuple[str, ...]] = ("for", "if")
_read_parameters: Final = lru_cache(maxsize=512)(PARAMETERS.parse)


def expand_parts(root: Element, findings: Findings) -> Element:
    """Return a tree with every use replaced by its part; `root` itself if there is nothing to expand.

    `root` is not modified; both trees share the elements that do not change. `part` elements are kept:
    empty if they are used, otherwise with their content, so that it is checked.
    """
    if not any(element.tag in _EXPANDED for element in root.walk()):
        return root
    return _Expander(root, findings).expand()


_Children = list[Element | Text]


class _ExpansionFrame(NamedTuple):
    """The parts that are being expanded, outermost first, and what fills the slots of the innermost.

    That is content of its `use`, in the frame `outside`. `is_copied` is set where elements are added to
    those of the document.
    """

    parts: tuple[str, ...] = ()
    filling: _Children | None = None
    outside: _ExpansionFrame | None = None
    use_location: SourceLocation | None = None
    is_copied: bool = False


class _Expander:
    def __init__(self, root: Element, findings: Findings) -> None:
        self._root = root
        self._findings = findings
        self._parts: dict[str, Element] = {}
        for part in root.elements("part"):
            self._parts.setdefault(part.attributes.get("name", ""), part)
        self._with_slot = {
            name: any(element.tag == "slot" for element in part.walk())
            for name, part in self._parts.items()
        }
        self._used: set[str] = set()
        self._count = 0
        self._is_full = False

    def expand(self) -> Element:
        rest = [child for child in self._root.children if not _is_part(child)]
        made = self._expand(rest, _ExpansionFrame(), 1)
        made += map(self._keep_declaration, self._root.elements("part"))
        return replace(self._root, children=made)

    def _keep_declaration(self, part: Element) -> Element:
        """Return a `part` as it is kept in the document: with its content only if no `use` names it."""
        name = part.attributes.get("name", "")
        children: _Children = []
        if name not in self._used or self._parts.get(name) is not part:
            content = self._expand(part.children, _ExpansionFrame((name,), is_copied=True), 2)
            unused = PartExpansion("group", {}, part.location, content, name=name)
            unused.parameters = _parameters_of(part)
            unused.is_unused = True
            children = [unused]
        return replace(part, children=children)

    def _expand(self, children: _Children, frame: _ExpansionFrame, depth: int) -> _Children:
        """Expand children at a depth, counted from 1 for those of the root."""
        made: _Children = []
        owner: Element | None = None
        for child in children:
            if isinstance(child, Text):
                owner = None if child.text.strip() else owner
                made.append(child)
                continue
            made.append(self._expand_one(child, owner, frame, depth))
            owner = child
        return made

    def _expand_one(
        self, element: Element, owner: Element | None, frame: _ExpansionFrame, depth: int
    ) -> Element:
        if frame.is_copied and not self._has_room(frame.use_location or element.location, depth):
            return _empty(element)
        match element.tag:
            case "use":
                return self._expand_use(element, frame, depth)
            case "slot":
                return self._expand_slot(element, frame, depth)
            case "insert" if frame.parts:
                what = "`insert` is not allowed in a part, which has access to its arguments only"
                advice = "Put it in the `use`, where it fills the slot"
                self._error("misplaced-element", f"{what}. {advice}", element)
                return _empty(element)
        content = self._expand(element.children, frame, depth + 1)
        if element.tag == "else":
            return self._expand_else(element, owner, content)
        return element if content == element.children else replace(element, children=content)

    def _expand_else(self, element: Element, owner: Element | None, content: _Children) -> Element:
        """Return the group that replaces an `else`; report an `else` that follows no `if`."""
        made = ElseExpansion("group", element.attributes, element.location, content)
        if owner is not None and _takes_else(owner):
            made.condition, made.condition_location = owner.attributes["if"], owner.location
            return made
        if owner is None:
            wrong = "nothing, or text, precedes it"
        elif owner.tag == "else":
            wrong = "another `else` precedes it, which covers all other cases"
        elif "if" in owner.attributes:
            wrong = (
                f"the `if` of `{owner.tag}` selects items of its `for`. Put the `for` on "
                "a `group` around both"
            )
        else:
            wrong = f"`{owner.tag}` precedes it, which has no `if`"
        message = f"`else` follows an element with `if` and without `for`; {wrong}"
        self._error("else-without-if", message, element)
        return Expansion("group", element.attributes, element.location, content)

    # --- use and slot ---------------------------------------------------------------------------

    def _expand_use(self, use: Element, frame: _ExpansionFrame, depth: int) -> Element:
        part = self._find_part(use, frame)
        if part is None:
            return _empty(use)
        name = part.attributes["name"]
        parameters = _parameters_of(part)
        filling = _trim(use.children) or None
        if filling and not self._with_slot[name]:
            message = f'The part "{name}" has no `slot` for the content of this `use`'
            self._findings.error("unused-content", message, use.location, part.location)
        self._check_arguments(use, name, parameters)
        parts = (*frame.parts, name)
        inner = _ExpansionFrame(parts, filling, frame, use.location, is_copied=True)
        body = self._expand(_trim(part.children), inner, depth + 2)
        used = PartExpansion("group", {}, part.location, body, name=name, use_location=use.location)
        used.parameters = parameters
        used.arguments = {n: text for n, text in use.attributes.items() if n not in _OF_USE}
        used.fills_slot = filling is not None
        given = {n: use.attributes[n] for n in _CONTROLS if n in use.attributes}
        return Element("group", given, use.location, [used]) if given else used

    def _find_part(self, use: Element, frame: _ExpansionFrame) -> Element | None:
        """Return the part that a `use` names; report and return None if it is unknown or recursive."""
        name = use.attributes.get("part")
        if name is None:
            self._error("missing-attribute", "`use` has no `part`, which it needs: a name", use)
            return None
        part = self._parts.get(name)
        if part is None:
            near = suggest_name(name, self._parts)
            message = f'The part "{name[:40]}" of `use` is not declared{near}'
            self._error("unknown-part", message, use)
            return None
        self._used.add(name)
        if name in frame.parts:
            path = " → ".join((*frame.parts[frame.parts.index(name) :], name))
            self._error("part-cycle", f"The parts use each other in a cycle: {path}", use)
            return None
        if len(frame.parts) >= MAX_USE_DEPTH:
            self._error("part-cycle", f"Parts are used more than {MAX_USE_DEPTH} deep", use)
            return None
        return part

    def _expand_slot(self, slot: Element, frame: _ExpansionFrame, depth: int) -> Element:
        if not frame.parts:
            message = "`slot` is allowed in a `part` only, for the content of a `use`"
            self._error("misplaced-element", message, slot)
            return _empty(slot)
        if frame.outside is None or frame.filling is None:
            content = self._expand(slot.children, frame, depth + 1)
            return Expansion("group", {}, slot.location, content)
        outside = frame.outside._replace(is_copied=True)
        content = self._expand(frame.filling, outside, depth + 1)
        return SlotExpansion("group", {}, frame.use_location or slot.location, content)

    def _check_arguments(self, use: Element, name: str, known: tuple[PartParameter, ...]) -> None:
        names = [parameter.name for parameter in known]
        accepted = f"it takes {join_words(names, 'and') or 'none'}"
        for argument in use.attributes:
            if argument not in _OF_USE and argument not in names:
                what = f'The part "{name}" has no argument `{argument[:40]}`'
                message = f"{what}; {accepted}{suggest_name(argument, names)}"
                self._error("unknown-argument", message, use)
        for parameter in known:
            if parameter.default is None and parameter.name not in use.attributes:
                message = f'The part "{name}" needs the argument `{parameter.name}`; {accepted}'
                self._error("missing-argument", message, use)

    # --- bounds ---------------------------------------------------------------------------------

    def _has_room(self, location: SourceLocation, depth: int) -> bool:
        """Add an element; return False once there are too many, or one is too deep, which is reported."""
        self._count += 1
        exceeded = ""
        if self._count > MAX_EXPANDED:
            exceeded = f"The parts of this document add more than {MAX_EXPANDED:,} elements to it"
        elif depth > MAX_DEPTH:
            exceeded = f"Elements and the parts in them are nested more than {MAX_DEPTH} deep"
        if exceeded and not self._is_full:
            self._is_full = True
            message = f"{exceeded}. Nest fewer parts, or repeat one with `for`"
            self._findings.error("too-many-parts", message, location)
        return not self._is_full

    def _error(self, code: str, message: str, element: Element) -> None:
        self._findings.error(code, message, element.location)


def _takes_else(owner: Element) -> bool:
    return owner.tag != "else" and "if" in owner.attributes and "for" not in owner.attributes


def _trim(children: _Children) -> _Children:
    """Return children without leading and trailing white space, so that inline parts add no spaces."""
    kept = list(children)
    while kept and isinstance(kept[0], Text) and not kept[0].text.strip(_SPACE):
        del kept[0]
    while kept and isinstance(kept[-1], Text) and not kept[-1].text.strip(_SPACE):
        del kept[-1]
    for position, strip in ((0, str.lstrip), (-1, str.rstrip)):
        if kept and isinstance(edge := kept[position], Text):
            kept[position] = replace(edge, text=strip(edge.text, _SPACE))
    return kept


def _is_part(child: Element | Text) -> bool:
    return isinstance(child, Element) and child.tag == "part"


def _parameters_of(part: Element) -> tuple[PartParameter, ...]:
    try:
        return _read_parameters(part.attributes.get("takes", ""))
    except ValueError:  # reported by the checks
        return ()


def _empty(element: Element) -> Element:
    return Expansion("group", {}, element.location)
