"""What every element's compilation shares: its names, attributes, styles, loops and conditions.

Compiling happens once for a template and gives `Part`s; building runs them once for a document.
A part is handed a scope (the data, loop variables, and the run) and its parent's look, and appends
what it makes to a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

from workers.engine.diagnostics import Findings, Place, Span
from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.syntax.values import ColorValue, LoopClause
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES, AttributeSpec
from workers.engine.tree.cascade import MAX_CACHED, Look, StyleSheet, UnknownReference
from workers.engine.tree.expressions import FORMATS, compile_text, compile_value
from workers.engine.tree.formats import Formats, get_formats
from workers.engine.tree.gathered import NO_USES, Uses
from workers.engine.tree.grammar import (
    PAGE_NAMES,
    TOTALS,
    Expression,
    ExpressionSyntaxError,
    TextTemplate,
    parse_expression,
    parse_text,
)
from workers.engine.tree.looks import NO_PROPERTIES, Properties, spread
from workers.engine.tree.nodes import LoopStep, Source
from workers.engine.tree.run import LOOP, RUN, Evaluation, Run
from workers.engine.tree.runtime import Scope, describe, suggest
from workers.engine.units import Color

T = TypeVar("T")
Build = Callable[[Scope, Look, list[Any]], None]


_NOWHERE: Final = Place("", Span(1, 1, 1, 1))
_UNWRITTEN: Final[dict[int, Attribute[Any]]] = {}  # by the specification's identity
_MAX_SHARED: Final = 4096  # styles of a template that elements written alike share

_AFTER_TABLE: Final = frozenset({"all"})  # of a total
_BESIDE_PROPERTIES: Final = frozenset({"class", "lang"})  # what else decides an element's look
_COUNTING: Final = ("number", "counter-reset", "counter-set")
_IN_TABLE: Final = frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"})


class Part(NamedTuple):
    """A compiled piece of the tree. A static one gives the same nodes for the same parent look."""

    build: Build
    is_static: bool


# A flow's name, the names known where it is inserted, and whether that is at page time.
InsertKey = tuple[str, frozenset[str], bool]


class UnresolvedName(NamedTuple):
    """A name that neither the data section nor a loop declares: the payload may bring it."""

    name: str
    expression: str
    place: Place


@dataclass(frozen=True)
class Context:
    """Where in the template the compiler stands: known names, and what it gathers."""

    sheet: StyleSheet
    findings: Findings
    flows: Mapping[str, Element]
    names: frozenset[str]
    is_page_time: bool = False
    is_in_list: bool = False  # inside an item, where lists have no outer margins
    used: set[str] = field(default_factory=set)
    unresolved: list[UnresolvedName] = field(default_factory=list)
    inserted: dict[InsertKey, tuple[Part, frozenset[str]]] = field(default_factory=dict)
    inserting: tuple[str, ...] = ()
    totals: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of the tables around
    summed: set[str] = field(default_factory=set)  # totals of the tables before
    uses: Uses = NO_USES
    # The styles of elements that are written alike, by tag and attributes as written.
    styles: dict[tuple[Any, ...], ElementStyles] = field(default_factory=dict)

    def knowing(self, *names: str) -> Context:
        """Give the context of a place where further names are known."""
        return replace(self, names=self.names | set(names))

    # --- expressions ---------------------------------------------------------------------------

    def expression(self, text: str, place: Place) -> Evaluation:
        """Compile an expression written without braces; what is wrong becomes a finding."""
        try:
            parsed = parse_expression(text)
        except ExpressionSyntaxError as error:
            self._refuse(text, error, place)
            return Evaluation(_nothing, (), place, None)
        self.note(parsed, place)
        return Evaluation(compile_value(parsed), (parsed,), place, None)

    def template(self, text: str, place: Place, *, is_literal: bool = False) -> TextTemplate:
        """Parse a text with expressions; what is wrong becomes a finding."""
        if is_literal or "{{" not in text:
            return TextTemplate((text,))
        try:
            template = parse_text(text)
        except ExpressionSyntaxError as error:
            self._refuse(text, error, place)
            return TextTemplate(("",))
        for parsed in template.expressions:
            self.note(parsed, place)
        return template

    def text(self, template: TextTemplate, place: Place) -> Evaluation:
        """Compile a parsed text."""
        return Evaluation(compile_text(template), template.expressions, place, "")

    def note(self, parsed: Expression, place: Place) -> None:
        """Check an expression's names, and note them as used."""
        self.used.update(parsed.all_names)
        for hint in parsed.hints:
            self.findings.warn("filter-precedence", f"In {{{{ {parsed.text} }}}} {hint}", place)
        if (
            parsed.uses_page
            and not self.is_page_time
            and not (PAGE_NAMES & parsed.all_names & self.names)
        ):
            self.findings.error(
                "page-value-outside-page-time",
                f"Page values are known only in headers, footers, and heads and feet of tables: "
                f"{{{{ {parsed.text} }}}}",
                place,
            )
        if TOTALS in parsed.all_names - self.names:
            self._check_totals(parsed, place)
        for name in parsed.names - self.names - PAGE_NAMES - {TOTALS}:
            self.unresolved.append(UnresolvedName(name, parsed.text, place))

    def _check_totals(self, parsed: Expression, place: Place) -> None:
        """Tell totals that no table here or before declares, and figures not known here."""
        for name, figure in parsed.totals:
            known = self.totals.get(name, _AFTER_TABLE if name in self.summed else None)
            if known is None:
                near = suggest(name, {*self.totals, *self.summed})
                self.findings.error(
                    "unknown-total",
                    f'No table here or before declares the total "{name}"{near}: '
                    f"{{{{ {parsed.text} }}}}",
                    place,
                )
            elif figure not in known:
                self.findings.error(
                    "total-not-known-here",
                    f'"{figure}" of the total "{name}" is not known here; in body rows there is '
                    "running, in heads and feet before, here, after and all, after the table all: "
                    f"{{{{ {parsed.text} }}}}",
                    place,
                )

    def _refuse(self, text: str, error: ExpressionSyntaxError, place: Place) -> None:
        shown = text.strip() if len(text.strip()) <= 80 else text.strip()[:79] + "…"
        self.findings.error("expression-syntax", f'In "{shown}": {error}', place)

    # --- attributes ----------------------------------------------------------------------------

    def attribute(self, element: Element, name: str) -> Attribute[Any]:
        """Compile an attribute to a value of its kind, its default where it is not given."""
        spec = ELEMENTS[element.tag].attributes[name]
        return self._attribute(element, spec)

    def _attribute(self, element: Element, spec: AttributeSpec) -> Attribute[Any]:
        unwritten = _unwritten(spec)
        written = element.attributes.get(spec.name)
        if written is None:
            return unwritten
        default = unwritten.constant
        is_literal = element.is_literal or spec.is_fixed
        template = self.template(written, element.place, is_literal=is_literal)
        if template.literal is None:
            return Attribute(spec, element.place, default, template)
        try:
            return Attribute(spec, element.place, spec.kind.parse(template.literal), None)
        except ValueError:  # told by the checks of the text
            return Attribute(spec, element.place, default, None)

    def value(self, element: Element, name: str) -> Any:
        """Give an attribute that can hold no expression."""
        return self.attribute(element, name).constant

    # --- looks ---------------------------------------------------------------------------------

    def look(
        self, element: Element, *, under: Properties = NO_PROPERTIES, is_inline: bool = False
    ) -> ElementLook:
        """Compile the styles of an element; `under` lies below its classes and own attributes."""
        spec = ELEMENTS[element.tag]
        # What an element does not take is told by the checks, and counts as not given.
        given = {
            name: text
            for name, text in element.attributes.items()
            if name in spec.attributes and (name in PROPERTIES or name in _BESIDE_PROPERTIES)
        }
        if under is not NO_PROPERTIES or any("{{" in text for text in given.values()):
            layers = self._layers(element, given, under)
            return ElementLook(ElementStyles(self.sheet, layers, element.tag, is_inline), element)
        key = (element.tag, self.is_in_list, is_inline, *given.items())
        shared: ElementStyles | None = self.styles.get(key)
        if shared is None:
            layers = self._layers(element, given, under)
            shared = ElementStyles(self.sheet, layers, element.tag, is_inline)
            if len(self.styles) < _MAX_SHARED:
                self.styles[key] = shared
        return ElementLook(shared, element)

    def _layers(self, element: Element, given: Mapping[str, str], under: Properties) -> StyleLayers:
        spec = ELEMENTS[element.tag]
        own: dict[str, Any] = {}
        dynamic: list[Attribute[Any]] = []
        for name in given:
            if name not in PROPERTIES:
                continue
            attribute = self._attribute(element, spec.attributes[name])
            if attribute.is_static:
                own[name] = attribute.constant
            else:
                dynamic.append(attribute)
        below = self.sheet.properties_of(
            element.tag,
            is_in_list=self.is_in_list,
            is_markdown=isinstance(element, MarkdownElement),
        )
        return StyleLayers(
            below={**below, **under} if under else below,
            classes=self.attribute(element, "class") if "class" in given else None,
            own=own,
            dynamic=tuple(dynamic),
            lang=self.attribute(element, "lang") if "lang" in given else None,
        )

    # --- loops and conditions ------------------------------------------------------------------

    def controlled(
        self, element: Element, compile_inner: Callable[[Element, Context], Part]
    ) -> Part:
        """Compile an element with its `for` and `if`: the loop first, the condition on each turn."""
        attributes = element.attributes
        spec = ELEMENTS.get(element.tag)
        if spec is None or "for" not in spec.attributes:  # told by the checks, if it is given
            return compile_inner(element, self)
        if "for" not in attributes and "if" not in attributes:
            return compile_inner(element, self)
        loop = self.loop(element) if "for" in attributes else None
        inner = self if loop is None else loop.context
        condition = (
            inner.expression(attributes["if"], element.place) if "if" in attributes else None
        )
        part = compile_inner(element, inner)
        build = part.build if condition is None else _conditional(condition, part.build)
        return Part(build if loop is None else loop.repeat(build), is_static=False)

    def loop(self, element: Element) -> Loop:
        """Compile a `for`, and give the context of what it repeats."""
        spec = ELEMENTS[element.tag].attributes["for"]
        try:
            clause: LoopClause = spec.kind.parse(element.attributes["for"])
        except ValueError:  # told by the checks of the text
            clause = LoopClause(None, "#", "[]")
        items = self.expression(clause.expression, element.place)
        known = [name for name in (clause.key, clause.name, "loop") if name]
        used: set[str] = set()
        context = replace(self, names=self.names | set(known), used=used)
        return Loop(element.place, clause, items, context, self.used)


def _unwritten(spec: AttributeSpec) -> Attribute[Any]:
    """Return an attribute that is not given, which has no place: one for all elements."""
    known = _UNWRITTEN.get(id(spec))
    if known is None or known.spec is not spec:
        default = None if spec.default is None else spec.kind.parse(spec.default)
        known = _UNWRITTEN[id(spec)] = Attribute(spec, _NOWHERE, default, None)
    return known


class Attribute(Generic[T]):
    """An attribute compiled: a constant, or an expression read by the attribute's kind once evaluated."""

    __slots__ = ("_evaluation", "constant", "place", "spec", "template")

    def __init__(
        self, spec: AttributeSpec, place: Place, constant: T, template: TextTemplate | None
    ) -> None:
        self.spec = spec
        self.place = place
        self.constant = constant
        self.template = template
        self._evaluation = (
            None
            if template is None
            else Evaluation(compile_text(template), template.expressions, place, "")
        )

    @property
    def is_static(self) -> bool:
        """Tell whether the value is the same for all data."""
        return self._evaluation is None

    def read_text(self, scope: Scope) -> str:
        """Evaluate the text of an attribute that is not static."""
        assert self._evaluation is not None
        text: str = self._evaluation.evaluate(scope)
        return text

    def read(self, scope: Scope) -> T:
        """Give the value; one that evaluates to nothing counts as not given."""
        if self._evaluation is None:
            return self.constant
        return self.parse(self.read_text(scope), scope)

    def parse(self, text: str, scope: Scope) -> T:
        """Read an evaluated text by the attribute's kind; what is wrong becomes a finding."""
        kind = self.spec.kind
        if text == "" and kind.accepts != "text":
            return self.constant
        try:
            value: T = kind.parse(text)
        except ValueError as error:
            shown = text if len(text) <= 20 else text[:20] + "…"
            scope[RUN].findings.error(
                "wrong-value",
                f'The attribute "{self.spec.name}" came out as "{shown}"; accepted is {error}',
                self.place,
            )
            return self.constant
        return value


class StyleLayers(NamedTuple):
    """What an element's look is made of, in the order of the cascade; `dynamic` depend on data."""

    below: Properties
    classes: Attribute[tuple[str, ...]] | None
    own: Mapping[str, Any]
    dynamic: tuple[Attribute[Any], ...]
    lang: Attribute[str | None] | None


class ElementStyles:
    """The styles of elements written alike, resolved once for each parent look and set of values."""

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
        self._by_parent: dict[Any, Resolved] = {}
        self.lang = layers.lang
        classes = layers.classes
        self.may_count = self._may_count()
        self.is_static = (
            not layers.dynamic and (classes is None or classes.is_static) and self.lang is None
        )

    def _may_count(self) -> bool:
        """Tell whether the styles number an element or set a counter, in some document."""
        layers = self._layers
        classes = layers.classes
        if layers.dynamic or (classes is not None and not classes.is_static):
            return True
        named = () if classes is None else classes.constant or ()
        every = [layers.below, layers.own, *map(self._sheet.find_properties, named)]
        return any(name in properties for properties in every for name in _COUNTING)

    def resolve(self, scope: Scope, parent: Look) -> Resolved:
        """Return the look under a parent's."""
        key: Any = parent if self.is_static else (parent, self._read_values(scope))
        found = self._by_parent.get(key)
        if found is None:
            if len(self._by_parent) > MAX_CACHED:
                self._by_parent.clear()
            findings: Findings = scope[RUN].findings
            reports_before = findings.reports
            found = self._compute(scope, parent)
            if findings.reports == reports_before:  # else each document reports it
                self._by_parent[key] = found
        return found

    def _read_values(self, scope: Scope) -> tuple[str, ...]:
        attributes = [*self._layers.dynamic, self._layers.classes, self.lang]
        return tuple(
            attribute.read_text(scope) if not attribute.is_static else ""
            for attribute in attributes
            if attribute is not None
        )

    def _compute(self, scope: Scope, parent: Look) -> Resolved:
        errors: list[UnknownReference] = []
        properties = dict(self._layers.below)
        names = self._layers.classes.read(scope) if self._layers.classes is not None else None
        for name in names or ():
            try:
                properties |= self._sheet.properties_of_class(name)
            except UnknownReference as error:
                errors.append(error)
        own = dict(self._layers.own)
        for attribute in self._layers.dynamic:
            value = attribute.read(scope)
            if value is not None:
                own[attribute.spec.name] = value
        properties |= spread(own)
        if properties.get("number") is not None and properties.get("counter") is None:
            properties["counter"] = self._tag
        lang = self.lang.read(scope) if self.lang is not None else None
        try:
            look = self._sheet.compute(
                parent,
                properties,
                lang=lang,
                is_inline=self._is_inline,
                in_table=self._in_table,
            )
        except UnknownReference as error:
            errors.append(error)
            look = self._sheet.compute(parent, NO_PROPERTIES, is_inline=self._is_inline)
        return Resolved(look, properties, tuple((e.code, str(e)) for e in errors))


class Resolved(NamedTuple):
    """A look, all properties specified for its elements, and what is wrong in them: codes and texts."""

    look: Look
    properties: Properties
    errors: tuple[tuple[str, str], ...]


class ElementLook:
    """The styles of one element, at its place."""

    __slots__ = ("_styles", "place")

    def __init__(self, styles: ElementStyles, element: Element) -> None:
        self._styles = styles
        self.place = element.place

    @property
    def lang(self) -> Attribute[str | None] | None:
        """Return the language the element states."""
        return self._styles.lang

    @property
    def may_count(self) -> bool:
        """Tell whether the element may have a number or set a counter."""
        return self._styles.may_count

    @property
    def is_static(self) -> bool:
        """Tell whether the look depends on the parent's alone."""
        return self._styles.is_static

    def find(self, scope: Scope, parent: Look) -> Look:
        """Give the look under a parent's."""
        return self.resolve(scope, parent)[0]

    def resolve(self, scope: Scope, parent: Look) -> tuple[Look, Properties]:
        """Give the look under a parent's, and all properties specified for the element."""
        look, properties, errors = self._styles.resolve(scope, parent)
        for code, text in errors:
            scope[RUN].findings.error(code, text, self.place)
        return look, properties

    def enter(self, scope: Scope) -> Scope:
        """Give the scope inside the element: with its own formats where it has its own language."""
        lang = self._styles.lang
        return scope if lang is None else enter_lang(scope, lang.read(scope), self.place)


def find_color(
    sheet: StyleSheet, value: ColorValue | None, scope: Scope, place: Place
) -> Color | None:
    """Give a colour an attribute came out as, None for none; an unknown name becomes a finding."""
    if value is None:
        return None
    try:
        return sheet.find_color(value)
    except UnknownReference as error:
        scope[RUN].findings.error(error.code, str(error), place)
        return None


def enter_lang(scope: Scope, lang: str | None, place: Place) -> Scope:
    """Give a scope whose formats follow a language; one that is not known becomes a finding."""
    if lang is None:
        return scope
    formats: Formats = scope[FORMATS]
    try:
        entered = get_formats(lang, formats.currency, str(formats.zone))
    except ValueError as error:
        scope[RUN].findings.error("unknown-language", f'In lang="{lang[:40]}": {error}', place)
        return scope
    if entered.is_fallback:
        warn_of_fallback(lang, scope[RUN].findings, place)
    return {**scope, FORMATS: entered}


def warn_of_fallback(lang: str, findings: Findings, place: Place) -> None:
    """Warn of a language without formats."""
    findings.warn(
        "unknown-language",
        f'There are no formats for the language "{lang[:40]}"; numbers, dates and currencies are '
        "written as in English",
        place,
    )


class Loop:
    """A compiled `for`: repeats a part with its variables set."""

    def __init__(
        self,
        place: Place,
        clause: LoopClause,
        items: Evaluation,
        context: Context,
        used_outside: set[str],
    ) -> None:
        self.place = place
        self.clause = clause
        self.context = context
        self._items = items
        self._used_outside = used_outside

    @property
    def uses_loop(self) -> bool:
        """Tell whether anything inside asks for `loop`; known once the inside is compiled."""
        return "loop" in self.context.used

    def close(self) -> None:
        """Tell the context outside which names were used inside."""
        self._used_outside |= self.context.used - {"loop"}

    def turns(self, scope: Scope) -> list[Any]:
        """Give the list to go through, counted; records go through as pairs."""
        run: Run = scope[RUN]
        items = self._items.evaluate(scope)
        if items is None:
            return []
        if isinstance(items, dict) and self.clause.key:
            items = list(items.items())
        elif not isinstance(items, list) or self.clause.key:
            wanted = "a record" if self.clause.key else "a list"
            run.findings.error(
                "loop-needs-list",
                f'for="{self.clause.name} in {self.clause.expression[:80]}" needs {wanted}, '
                f"not {describe(items)}",
                self.place,
            )
            return []
        run.count_turns(len(items), self.place)
        return items

    def repeat(self, build: Build) -> Build:
        """Give the build that runs another once for each item."""
        self.close()
        key, name, list_name = self.clause.key, self.clause.name, self.clause.expression.strip()
        uses_loop = self.uses_loop

        def build_turns(scope: Scope, parent: Look, out: list[Any]) -> None:
            items = self.turns(scope)
            inner = dict(scope)
            steps: tuple[LoopStep, ...] = scope[LOOP]
            for index, item in enumerate(items, 1):
                if key is None:
                    inner[name] = item
                else:
                    inner[key], inner[name] = item
                inner[LOOP] = (*steps, LoopStep(list_name, index))
                if uses_loop:
                    inner["loop"] = loop_record(index, len(items))
                build(inner, parent, out)

        return build_turns


def loop_record(index: int, length: int) -> dict[str, Any]:
    """Give what `loop.*` reads in a turn, counted from 1."""
    return {
        "index": Decimal(index),
        "first": index == 1,
        "last": index == length,
        "length": Decimal(length),
    }


def _conditional(condition: Evaluation, build: Build) -> Build:
    def build_if(scope: Scope, parent: Look, out: list[Any]) -> None:
        if condition.evaluate(scope):
            build(scope, parent, out)

    return build_if


def remembering(parts: Iterable[Part]) -> Part:
    """Join parts to one that builds them in order, and static neighbours once for each parent look."""
    runs = groupby(parts, key=attrgetter("is_static"))
    return in_order(
        part
        for is_static, run in runs
        for part in ((remembered(in_order(run)),) if is_static else run)
    )


def remembered(part: Part) -> Part:
    """Make a static part give the nodes it made before, for each parent look.

    What reports something is built again, so that each document has its findings.
    """
    if not part.is_static:
        return part
    made: dict[Look, tuple[Any, ...]] = {}
    build = part.build

    def build_once(scope: Scope, parent: Look, out: list[Any]) -> None:
        if scope[LOOP]:  # its nodes tell the turn they were made in
            build(scope, parent, out)
            return
        nodes = made.get(parent)
        if nodes is None:
            fresh: list[Any] = []
            findings: Findings = scope[RUN].findings
            reports_before = findings.reports
            build(scope, parent, fresh)
            nodes = tuple(fresh)
            if len(made) < MAX_CACHED and findings.reports == reports_before:
                made[parent] = nodes
        out += nodes

    return Part(build_once, is_static=True)


def in_order(parts: Iterable[Part]) -> Part:
    """Join parts to one that builds them one after the other."""
    kept = tuple(parts)
    if len(kept) == 1:
        return kept[0]
    return Part(_InOrder(part.build for part in kept), all(part.is_static for part in kept))


class _InOrder:
    """Builds one part after the other. An object: a document has as many as elements."""

    __slots__ = ("builds",)

    def __init__(self, builds: Iterable[Build]) -> None:
        self.builds = tuple(builds)

    def __call__(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        for build in self.builds:
            build(scope, parent, out)


def source_at(place: Place) -> Callable[[Scope], Source]:
    """Give the maker of an element's sources: one for all where no loop is around."""
    plain = Source(place)

    def make(scope: Scope) -> Source:
        loop = scope[LOOP]
        return Source(place, loop) if loop else plain

    return make


def check_names(unresolved: Iterable[UnresolvedName], scope: Scope, findings: Findings) -> None:
    """Tell names that neither the template nor the data bring."""
    for name, expression, place in unresolved:
        if name not in scope:
            findings.error(
                "unknown-name",
                f'The name "{name}" is not known in {{{{ {expression[:80]} }}}}'
                f"{suggest(name, scope)}",
                place,
            )


def _nothing(_: Scope) -> None:
    return None
