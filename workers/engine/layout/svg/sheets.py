"""Style sheets in an SVG: rules with simple selectors, and which of their declarations reach an element."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from workers.engine.layout.svg.limits import MAX_RULES, Work, too_much
from workers.engine.layout.svg.properties import ACCEPTED, UNDRAWN
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.validity import COLORS, OF_CSS, PAINTS, is_valid

_COMMENT: Final = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
_BRACE: Final = re.compile(r"[{}]")
_AT_RULE_HEAD: Final = re.compile(r"@([A-Za-z-]{0,20})[^;{]*+[;{]?")
_COMPOUND: Final = re.compile(r"(\*|[A-Za-z][\w-]*)?((?:[.#][\w-]+)*)", re.ASCII)
_SIMPLE: Final = re.compile(r"[.#][\w-]+", re.ASCII)
_IMPORTANT: Final = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)

Declarations = dict[str, str]


class Compound(NamedTuple):
    """`type#id.class`: all of it must hold for an element."""

    tag: str  # empty for any
    identity: str  # empty for any
    classes: frozenset[str]

    def matches(self, node: Node) -> bool:
        """Tell whether an element is meant."""
        return (
            (not self.tag or self.tag == node.tag)
            and (not self.identity or self.identity == node.attributes.get("id"))
            and self.classes <= node.classes
        )


class Rule(NamedTuple):
    """One selector of a rule; `ancestors` are compounds that elements around it must be, innermost last."""

    specificity: tuple[int, int, int]
    order: int
    compound: Compound
    ancestors: tuple[Compound, ...]
    declarations: Declarations
    important: Declarations


class StyleSheet:
    """The rules of all `style` elements, found by the type, class or id that their last part names."""

    def __init__(self, texts: list[str], work: Work, left_out: dict[str, None]) -> None:
        self._work = work
        self._left_out = left_out
        self._rules: dict[str, list[Rule]] = {}
        self._count = 0
        self._own: dict[Node, tuple[Declarations, Declarations]] = {}
        for text in texts:
            self._read(text)

    def find(self, node: Node) -> list[Rule]:
        """Give the rules that reach an element, the strongest last."""
        if not self._rules:
            return []
        identity = "#" + node.attributes.get("id", "")
        keys = ["", node.tag, identity, *("." + name for name in node.classes)]
        met = [rule for key in keys for rule in self._rules.get(key, ())]
        self._work.try_rules(sum(100 if rule.ancestors else 1 for rule in met))
        found = [
            rule
            for rule in met
            if rule.compound.matches(node) and _stands_in(rule.ancestors, node.parent)
        ]
        return sorted(found, key=lambda rule: (rule.specificity, rule.order))

    def read_own(self, node: Node) -> tuple[Declarations, Declarations]:
        """Give what the `style` of an element says, plain and important; read once for all copies."""
        known = self._own.get(node)
        if known is None:
            known = self._own[node] = read_declarations(node.attributes["style"], self.accepts)
        return known

    def accepts(self, name: str, value: str) -> bool:
        """Tell whether a declaration counts; a paint that does not, and what is not drawn, is told."""
        if name in UNDRAWN:
            if value and value not in OF_CSS and not value.startswith(UNDRAWN[name]):
                self._left_out[f"the property `{name}`"] = None
            return False
        if is_valid(name, value):
            return True
        if value and name in PAINTS | COLORS:
            self._left_out[f'the {name} "{value[:40]}"'] = None
        return False

    def _read(self, text: str) -> None:
        text = _COMMENT.sub("", text.replace("<!--", "").replace("-->", ""))
        at = 0
        while (at := _skip_space(text, at)) < len(text):
            head = _AT_RULE_HEAD.match(text, at)
            if head is not None:
                self._left_out[f"the style rule @{head[1]}"] = None
                at = _end_of_block(text, head.end()) if head[0].endswith("{") else head.end()
                continue
            brace = text.find("{", at)
            if brace < 0:
                break
            end = text.find("}", brace)
            end = len(text) if end < 0 else end
            plain, important = read_declarations(text[brace + 1 : end], self.accepts)
            for selector in text[at:brace].split(","):
                self._add(selector.strip(), plain, important)
            at = end + 1

    def _add(self, selector: str, plain: Declarations, important: Declarations) -> None:
        self._count += 1
        if self._count > MAX_RULES:
            raise too_much("style rules", MAX_RULES)
        # What stands directly in another stands in it: `a > b` is read as `a b`.
        parts = [_read_compound(part) for part in selector.replace(">", " ").split()]
        compounds = [part for part in parts if part is not None]
        if not compounds or len(compounds) < len(parts) or len(parts) > 8:
            if selector:
                self._left_out[f"the style selector {selector[:40]}"] = None
            return
        *ancestors, last = compounds
        rule = Rule(_weigh(compounds), self._count, last, tuple(ancestors), plain, important)
        key = "#" + last.identity if last.identity else last.tag
        if not last.identity and last.classes:
            key = "." + min(last.classes)
        self._rules.setdefault(key, []).append(rule)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _end_of_block(text: str, at: int) -> int:
    """Give where the block ends whose brace was opened just before."""
    depth = 1
    for brace in _BRACE.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def read_declarations(
    text: str, accepts: Callable[[str, str], bool]
) -> tuple[Declarations, Declarations]:
    """Read `name: value; …`; gives what is plain, and what is marked important."""
    plain: Declarations = {}
    important: Declarations = {}
    for name, written in _split_declarations(text):
        mark = _IMPORTANT.search(written) if "!" in written else None
        value = written[: mark.start()].strip() if mark else written
        if accepts(name, value):
            (important if mark else plain)[name] = value
    return plain, important


def _split_declarations(text: str) -> Iterator[tuple[str, str]]:
    for declaration in text.split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if colon and name in ACCEPTED:
            yield name, value.strip()


def _read_compound(text: str) -> Compound | None:
    match = _COMPOUND.fullmatch(text)
    if match is None or not text:
        return None
    simple = _SIMPLE.findall(match[2])
    identities = [part[1:] for part in simple if part[0] == "#"]
    if len(identities) > 1:
        return None
    tag = match[1] if match[1] not in (None, "*") else ""
    classes = frozenset(part[1:] for part in simple if part[0] == ".")
    return Compound(tag, identities[0] if identities else "", classes)


def _weigh(compounds: list[Compound]) -> tuple[int, int, int]:
    """Give the specificity (Selectors 4, 17)."""
    return (
        sum(bool(part.identity) for part in compounds),
        sum(len(part.classes) for part in compounds),
        sum(bool(part.tag) for part in compounds),
    )


def _stands_in(ancestors: tuple[Compound, ...], around: Node | None) -> bool:
    """Tell whether the compounds are met by elements around, from the inside out."""
    wanted = len(ancestors)
    while wanted and around is not None:
        if ancestors[wanted - 1].matches(around):
            wanted -= 1
        around = around.parent
    return not wanted
