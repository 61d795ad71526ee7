"""Stage three: a template's tree is compiled once to a blueprint, which data make a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import localcontext
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.merge.declarations import Declarations
from workers.engine.ports import RenderOptions, Security
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.blocks import compile_assertion, compile_flow
from workers.engine.tree.cascade import Look, StyleSheet
from workers.engine.tree.compiler import (
    Attribute,
    Context,
    UnresolvedName,
    check_names,
    find_color,
    in_order,
)
from workers.engine.tree.expressions import FORMATS
from workers.engine.tree.formats import Formats, get_formats
from workers.engine.tree.looks import Properties, spread
from workers.engine.tree.nodes import Document, DocumentInfo, Flow, PageMaster, Source, Watermark
from workers.engine.tree.pages import compile_page
from workers.engine.tree.run import LOOP, RUN, Evaluation, Run
from workers.engine.tree.runtime import ARITHMETIC, Scope
from workers.engine.units import BLACK

BODY: Final = "body"
MAX_FILENAME: Final = 150
_ALWAYS_PRESENT: Final = frozenset({"data", "now", "today", "doc"})
_INFORMATION: Final = ("title", "author", "subject", "keywords", "filename")
_SETTINGS: Final = ("lang", "currency", "timezone")


@dataclass(frozen=True, slots=True)
class _Assignment:
    name: str
    value: Evaluation


class Blueprint:
    """A compiled template: everything that does not depend on data is done.

    `findings` are what compiling found wrong; they hold for every document made from it.
    """

    def __init__(self, root: Element, declarations: Declarations) -> None:
        self.findings = Findings()
        self._root = root
        self._sheet = make_style_sheet(root)
        flows = {flow.attributes.get("name", BODY): flow for flow in root.elements("flow")}
        context = Context(self._sheet, self.findings, flows, _known_names(declarations))
        self._unresolved: list[UnresolvedName] = context.unresolved
        self._lets = _compile_lets(declarations, context)
        context = context.knowing(*(let.name for let in declarations.lets))
        self._assertions = in_order(
            [compile_assertion(assertion.element, context) for assertion in declarations.assertions]
        )
        self._attributes = {
            name: context.attribute(root, name) for name in (*_INFORMATION, *_SETTINGS)
        }
        self._page = compile_page(root.find("page"), context)
        self._body = flows.get(BODY)
        self._blocks = compile_flow(BODY, context) if self._body else in_order(())
        self._max_pages = context.attribute(self._body, "max-pages") if self._body else None
        self._security = _compile_security(root.find("security"), context)
        self._watermarks = [
            _compile_watermark(mark, context) for mark in root.elements("watermark")
        ]
        self._compile_uninserted(flows, context)
        self._roots: dict[str, Look] = {}

    def build(
        self,
        data: Mapping[str, Any],
        options: RenderOptions,
        findings: Findings,
        *,
        is_trial: bool = False,
    ) -> Document:
        """Make the document of some data. Everything wrong goes to `findings`.

        With errors among them the document is not fit to be laid out. A trial is never laid out:
        it evaluates page content once, for its errors.

        Raises:
            AuthoringError: the loops of the document take too many turns.
        """
        with localcontext(ARITHMETIC):
            return self._build(data, options, findings, is_trial=is_trial)

    def _build(
        self,
        data: Mapping[str, Any],
        options: RenderOptions,
        findings: Findings,
        *,
        is_trial: bool,
    ) -> Document:
        run = Run(findings, is_trial=is_trial)
        scope: Scope = {**data, "data": data, RUN: run, LOOP: ()}
        scope[FORMATS] = self._formats(findings, _constants(self._attributes))
        _set_time_and_document(scope, options)
        for let in self._lets:
            scope[let.name] = let.value.evaluate(scope)
        check_names(self._unresolved, scope, findings)
        settings = {name: self._attributes[name].read(scope) for name in _SETTINGS}
        scope[FORMATS] = self._formats(findings, settings)
        scope["doc"]["lang"] = settings["lang"]
        _set_time_and_document(scope, options, zone=scope[FORMATS].zone)
        root = self._find_root(settings["lang"])
        self._assertions.build(scope, root, [])
        info = self._information(scope, settings["lang"])
        scope["doc"]["title"] = info.title
        flow = self._flow(scope, root)
        master: PageMaster = self._page(scope, root)
        marks = [mark for make in self._watermarks if (mark := make(scope, root)) is not None]
        security = self._security(scope) if self._security else None
        run.check_links()
        return Document(
            info,
            (master,),
            (flow,),
            None if options.is_draft else security,
            tuple(marks),
            findings.warnings,
        )

    def _formats(self, findings: Findings, settings: Mapping[str, Any]) -> Formats:
        lang, currency, zone = (settings[name] for name in _SETTINGS)
        try:
            return get_formats(lang or "en", currency, zone or "UTC")
        except ValueError as error:
            findings.error("unknown-setting", f"In document: {error}", self._root.place)
            return get_formats("en", None, "UTC")

    def _find_root(self, lang: str) -> Look:
        look = self._roots.get(lang)
        if look is None:
            if len(self._roots) > 64:
                self._roots.clear()
            look = self._roots[lang] = self._sheet.make_root(lang)
        return look

    def _information(self, scope: Scope, lang: str) -> DocumentInfo:
        title, author, subject, keywords, filename = (
            self._attributes[name].read(scope) for name in _INFORMATION
        )
        return DocumentInfo(
            _one_line(title),
            _one_line(author),
            _one_line(subject),
            _one_line(keywords),
            lang,
            self._filename(filename, scope[RUN].findings),
        )

    def _filename(self, written: str | None, findings: Findings) -> str | None:
        name = _one_line(written)
        safe = re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f]', "-", name).lstrip(".")[:MAX_FILENAME]
        if safe != name:
            findings.warn(
                "filename",
                f'The file name has signs that file systems refuse; it becomes "{safe}"',
                self._root.place,
            )
        return safe or None

    def _flow(self, scope: Scope, root: Look) -> Flow:
        blocks: list[Any] = []
        self._blocks.build(scope, root, blocks)
        source = Source(self._body.place) if self._body else None
        most = self._max_pages.read(scope) if self._max_pages else None
        return Flow(source, BODY, "default", tuple(blocks), most)

    def _compile_uninserted(self, flows: Mapping[str, Element], context: Context) -> None:
        """Compile flows nobody inserts too, for what is wrong in them; their names may be a loop's."""
        inserted = {name for name, _, _ in context.inserted}
        aside = Context(self._sheet, self.findings, flows, context.names)
        for name in flows.keys() - inserted:
            compile_flow(name, aside)


def compile_blueprint(root: Element, declarations: Declarations) -> Blueprint:
    """Compile a checked tree, once for all documents made from it."""
    return Blueprint(root, declarations)


# --- styles ---------------------------------------------------------------------------------------------


def make_style_sheet(root: Element) -> StyleSheet:
    """Read the colours and styles a document declares; what is wrong in them is told by the checks."""
    kind = ELEMENTS["color"].attributes["value"].kind
    colors = {}
    for element in root.elements("color"):
        parsed = _try_parse(kind.parse, element.attributes.get("value", ""))
        colors[element.attributes.get("name", "")] = BLACK if parsed is None else parsed
    named = {e.attributes["name"]: e for e in root.elements("style") if "name" in e.attributes}
    by_element = {
        e.attributes["element"]: _read_style(e, named, ())
        for e in root.elements("style")
        if "element" in e.attributes
    }
    by_name = {name: _read_style(element, named, ()) for name, element in named.items()}
    return StyleSheet(colors, by_name, by_element)


def _read_style(
    element: Element, named: Mapping[str, Element], seen: tuple[Element, ...]
) -> Properties:
    base: Properties = {}
    extended = named.get(element.attributes.get("extends", ""))
    if extended is not None and extended is not element and extended not in seen:
        base = _read_style(extended, named, (*seen, element))
    own: dict[str, Any] = {}
    for name, text in element.attributes.items():
        spec = ELEMENTS["style"].attributes.get(name)
        if spec is None or name in ("name", "element", "extends", "final"):
            continue
        value = _try_parse(spec.kind.parse, text)
        if value is not None or text.strip() in ("none", "transparent"):
            own[name] = value
    return {**base, **spread(own)}


def _try_parse(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


# --- data -----------------------------------------------------------------------------------------------


def _known_names(declarations: Declarations) -> frozenset[str]:
    paths = [*(f.path for f in declarations.fields), *(d.path for d in declarations.datasets)]
    return _ALWAYS_PRESENT.union((path[0] for path in paths), declarations.defaults)


def _compile_lets(declarations: Declarations, context: Context) -> list[_Assignment]:
    compiled: list[_Assignment] = []
    for let in declarations.lets:
        value = context.expression(let.expression, let.element.place)
        compiled.append(_Assignment(let.name, value))
        context = context.knowing(let.name)
    return compiled


def _set_time_and_document(
    scope: Scope, options: RenderOptions, *, zone: tzinfo | None = None
) -> None:
    now = options.now.astimezone(zone or UTC)
    scope["now"], scope["today"] = now, now.date()
    if zone is None:
        template = (
            None
            if options.template_id is None
            else {"id": options.template_id, "version": options.template_version}
        )
        scope["doc"] = {"title": "", "lang": "", "template": template, "draft": options.is_draft}


def _constants(attributes: Mapping[str, Attribute[Any]]) -> dict[str, Any]:
    return {name: attributes[name].constant for name in _SETTINGS}


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


# --- security and marks -----------------------------------------------------------------------------------


def _compile_security(
    element: Element | None, context: Context
) -> Callable[[Scope], Security] | None:
    if element is None:
        return None
    read = {
        name: context.attribute(element, name)
        for name in ELEMENTS["security"].attributes
        if name != "final"
    }
    given = element.attributes

    def build(scope: Scope) -> Security:
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        for name in ("user-password", "owner-password"):
            if name in given and not values[name]:
                scope[RUN].findings.error(
                    "empty-password",
                    f"The {name} came out empty. Give it a value, or leave the attribute out",
                    element.place,
                )
        return Security(**{name.replace("-", "_"): value for name, value in values.items()})

    return build


def _compile_watermark(
    element: Element, context: Context
) -> Callable[[Scope, Look], Watermark | None]:
    names = ("text", "layer", "opacity", "rotate", "font-size", "color")
    read = {name: context.attribute(element, name) for name in names}
    condition = (
        context.expression(element.attributes["if"], element.place)
        if "if" in element.attributes
        else None
    )
    sheet, place = context.sheet, element.place

    def build(scope: Scope, root: Look) -> Watermark | None:
        if condition is not None and not condition.evaluate(scope):
            return None
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        size = values["font-size"]
        return Watermark(
            _one_line(values["text"]),
            values["layer"] == "over",
            values["opacity"],
            values["rotate"],
            None if size is None else sheet.to_points(size, root),
            find_color(sheet, values["color"], scope, place) or BLACK,
        )

    return build
