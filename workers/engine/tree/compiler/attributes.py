"""Attributes and styles of an element.

An attribute is a constant, or an expression parsed by its value type once evaluated. A style is the
layers of its cascade, resolved for each parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Generic, NamedTuple, TypeVar

from workers.engine.diagnostics import Findings, SourceLocation, SourceSpan
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import TEXT, ColorValue
from workers.engine.syntax.vocabulary import ELEMENTS, AttributeSpec
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.expressions.compiler import compile_text
from workers.engine.tree.expressions.formats import HYPHEN_MINUS, MINUS_SIGN
from workers.engine.tree.expressions.grammar import TextTemplate
from workers.engine.tree.styles.cascade import (
    MAX_CACHED,
    NO_PROPERTIES,
    ComputedStyle,
    Properties,
    StyleSheet,
    UnknownReference,
    expand_shorthands,
)
from workers.engine.units import Color

T = TypeVar("T")


_NOWHERE: Final = SourceLocation("", SourceSpan(1, 1, 1, 1))


@cache
def default_attribute(tag: str, name: str) -> CompiledAttribute[object]:
    """Return the compiled attribute of an element that does not state it, one for all such elements."""
    spec = ELEMENTS[tag].attributes[name]
    return CompiledAttribute(spec, _NOWHERE, spec.read(None), None)


class CompiledAttribute(Generic[T]):
    """A compiled attribute: a constant, or an expression whose result its value type parses."""

    __slots__ = ("_evaluation", "constant", "location", "spec", "template")

    def __init__(
        self,
        spec: AttributeSpec,
        location: SourceLocation,
        constant: T,
        template: TextTemplate | None,
    ) -> None:
        self.spec = spec
        self.location = location
        self.constant = constant
        self.template = template
        self._evaluation = (
            None
            if template is None
            else Evaluation(compile_text(template), template.expressions, location, "")
        )

    @property
    def is_static(self) -> bool:
        """Whether the value does not depend on data."""
        return self._evaluation is None

    def read_text(self, scope: Scope) -> str:
        """Return the evaluated text of an attribute that is not static."""
        assert self._evaluation is not None
        text: str = self._evaluation.evaluate(scope)
        return text

    def read(self, scope: Scope) -> T:
        """Return the value; an attribute that evaluates to an empty text has its default."""
        if self._evaluation is None:
            return self.constant
        return self.parse(self.read_text(scope), scope)

    def parse(self, text: str, scope: Scope) -> T:
        """Return an evaluated text parsed by the value type.

        A wrong value is reported and replaced by the default.
        """
        kind = self.spec.value_type
        if kind is not TEXT:
            if text == "":
                return self.constant
            text = text.replace(MINUS_SIGN, HYPHEN_MINUS)  # of a number that a filter formatted
        try:
            value: T = kind.parse(text)
        except ValueError as error:
            shown = text if len(text) <= 20 else text[:20] + "…"
            message = (
                f'The attribute "{self.spec.name}" evaluates to "{shown}"; accepted is {error}'
            )
            scope.state.findings.error("wrong-value", message, self.location)
            return self.constant
        return value


_COUNTING: Final = ("number", "counter-reset", "counter-set")


_IN_TABLE: Final = frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"})


class StyleLayers(NamedTuple):
    """The layers of an element's cascade, in order; `dynamic` attributes depend on data."""

    below: Properties
    classes: CompiledAttribute[tuple[str, ...]] | None
    own: Mapping[str, object]
    dynamic: tuple[CompiledAttribute[object], ...]
    lang: CompiledAttribute[str | None] | None


class StyleResolver:
    """The styles of elements with the same attributes, computed once for each parent and values."""

    __slots__ = (
        *("_by_parent", "_in_table", "_is_inline", "_layers", "_sheet", "_tag", "is_static"),
        *("lang", "may_count"),
    )

    def __init__(self, sheet: StyleSheet, layers: StyleLayers, tag: str, is_inline: bool) -> None:
        self._sheet = sheet
        self._layers = layers
        self._is_inline = is_inline
        self._in_table = tag in _IN_TABLE
        self._tag = tag
        self._by_parent: dict[object, ResolvedStyle] = {}
        self.lang = layers.lang
        classes = layers.classes
        self.may_count = self._may_count()
        self.is_static = (
            not layers.dynamic and (classes is None or classes.is_static) and self.lang is None
        )

    def _may_count(self) -> bool:
        """Return whether the styles may number an element or set a counter in some document."""
        layers = self._layers
        classes = layers.classes
        if layers.dynamic or (classes is not None and not classes.is_static):
            return True
        named = () if classes is None else classes.constant or ()
        every = [layers.below, layers.own, *map(self._sheet.find_properties, named)]
        return any(name in properties for properties in every for name in _COUNTING)

    def resolve(self, scope: Scope, parent: ComputedStyle) -> ResolvedStyle:
        """Return the style under a parent's."""
        key: object = parent if self.is_static else (parent, self._read_values(scope))
        found = self._by_parent.get(key)
        if found is None:
            if len(self._by_parent) > MAX_CACHED:
                self._by_parent.clear()
            findings = scope.state.findings
            reports_before = findings.report_count
            found = self._compute(scope, parent)
            if findings.report_count == reports_before:  # else each document reports it
                self._by_parent[key] = found
        return found

    def _read_values(self, scope: Scope) -> tuple[str, ...]:
        attributes = [*self._layers.dynamic, self._layers.classes, self.lang]
        return tuple(
            attribute.read_text(scope) if not attribute.is_static else ""
            for attribute in attributes
            if attribute is not None
        )

    def _compute(self, scope: Scope, parent: ComputedStyle) -> ResolvedStyle:
        errors: list[UnknownReference] = []
        properties = dict(self._layers.below)
        names = self._layers.classes.read(scope) if self._layers.classes is not None else None
        for name in names or ():
            try:
                properties |= self._sheet.class_properties(name)
            except UnknownReference as error:
                errors.append(error)
        own = dict(self._layers.own)
        for attribute in self._layers.dynamic:
            value = attribute.read(scope)
            if value is not None:
                own[attribute.spec.name] = value
        properties |= expand_shorthands(own)
        if properties.get("number") is not None and properties.get("counter") is None:
            properties["counter"] = self._tag
        lang = self.lang.read(scope) if self.lang is not None else None
        try:
            computed = self._sheet.compute(
                parent, properties, lang=lang, is_inline=self._is_inline, in_table=self._in_table
            )
        except UnknownReference as error:
            errors.append(error)
            computed = self._sheet.compute(parent, NO_PROPERTIES, is_inline=self._is_inline)
        return ResolvedStyle(computed, properties, tuple((e.code, str(e)) for e in errors))


class ResolvedStyle(NamedTuple):
    """A computed style, the properties specified for it, and the errors in them as codes and texts."""

    computed: ComputedStyle
    properties: Properties
    errors: tuple[tuple[str, str], ...]


class ElementStyle:
    """The styles of one element, with its location."""

    __slots__ = ("_styles", "is_static", "lang", "location", "may_count")

    def __init__(self, styles: StyleResolver, element: Element) -> None:
        self._styles = styles
        self.location = element.location
        self.lang = styles.lang
        self.may_count = styles.may_count  # or set a counter
        self.is_static = styles.is_static  # depends on the parent's style alone

    def compute(self, scope: Scope, parent: ComputedStyle) -> ComputedStyle:
        """Return the style under a parent's; errors are reported."""
        return self.resolve(scope, parent)[0]

    def resolve(self, scope: Scope, parent: ComputedStyle) -> tuple[ComputedStyle, Properties]:
        """Return the style under a parent's, and all properties specified for the element."""
        computed, properties, errors = self._styles.resolve(scope, parent)
        for code, text in errors:
            scope.state.findings.error(code, text, self.location)
        return computed, properties

    def enter(self, scope: Scope) -> Scope:
        """Return the scope inside the element, with the formats of its own language if it states one."""
        lang = self.lang
        return scope if lang is None else enter_language(scope, lang.read(scope), self.location)


def find_color(
    sheet: StyleSheet, value: ColorValue | None, scope: Scope, location: SourceLocation
) -> Color | None:
    """Return the colour of an evaluated attribute, None for none; an unknown name is reported."""
    if value is None:
        return None
    try:
        return sheet.get_color(value)
    except UnknownReference as error:
        scope.state.findings.error(error.code, str(error), location)
        return None


def enter_language(scope: Scope, lang: str | None, location: SourceLocation) -> Scope:
    """Return a scope with the formats of a language; an unknown language is reported."""
    if lang is None:
        return scope
    formats = scope.formats
    try:
        entered = formats.enter(lang)
    except ValueError as error:
        scope.state.findings.error("unknown-language", f'In lang="{lang[:40]}": {error}', location)
        return scope
    if entered.is_fallback:
        warn_of_fallback(lang, scope.state.findings, location)
    return scope.enter(formats=entered)


def warn_of_fallback(lang: str | None, findings: Findings, location: SourceLocation) -> None:
    """Warn that CLDR has no formats for a language."""
    findings.warn(
        "unknown-language",
        f'There are no formats for the language "{(lang or "")[:40]}"; numbers, dates and currencies are '
        "written as in English",
        location,
    )
