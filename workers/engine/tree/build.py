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
from workers.engine.syntax.checks import color_names
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import counter_of
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.attachments import build_attachments, compile_attachment
from workers.engine.tree.blocks import compile_assertion, compile_flow
from workers.engine.tree.cascade import Look, StyleSheet
from workers.engine.tree.compiler import (
    Attribute,
    Context,
    UnresolvedName,
    check_names,
    in_order,
    warn_of_fallback,
)
from workers.engine.tree.crossings import Closing
from workers.engine.tree.expressions import FORMATS
from workers.engine.tree.fonts import compile_fonts
from workers.engine.tree.formats import DEFAULT_LANGUAGE, Formats, get_formats
from workers.engine.tree.gathered import find_uses
from workers.engine.tree.grammar import TOTALS
from workers.engine.tree.looks import NO_PROPERTIES, Properties, spread
from workers.engine.tree.members import find_member_uses
from workers.engine.tree.nodes import Document, DocumentInfo, Flow, Source
from workers.engine.tree.pages import DEFAULT_FAMILY, compile_pages
from workers.engine.tree.run import LOOP, RUN, Evaluation, Run, Trial
from workers.engine.tree.runtime import ARITHMETIC, Scope
from workers.engine.tree.totals import declares_totals
from workers.engine.tree.watermarks import compile_watermark
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
    `member_uses` are the members that it reads and only data may have.
    """

    def __init__(self, root: Element, declarations: Declarations) -> None:
        self.findings = Findings()
        self._root = root
        self._sheet = make_style_sheet(root)
        flows = {flow.attributes.get("name", BODY): flow for flow in root.elements("flow")}
        self._has_totals = declares_totals(root)
        names = _known_names(declarations)
        if self._has_totals:  # data of that name are read as data.totals (language.md 1.4)
            names -= {TOTALS}
        self._uses = find_uses(root)
        context = Context(self._sheet, self.findings, flows, names, uses=self._uses)
        self._unresolved: list[UnresolvedName] = context.unresolved
        self._lets = _compile_lets(declarations, context)
        context = context.knowing(*(let.name for let in declarations.lets))
        self._assertions = in_order(
            [compile_assertion(assertion.element, context) for assertion in declarations.assertions]
        )
        self._attributes = {
            name: context.attribute(root, name) for name in (*_INFORMATION, *_SETTINGS)
        }
        self._formats(self.findings, _constants(self._attributes))
        self._flows = [
            _compile_poured(flows[name], context) for name in _poured_flows(root) if name in flows
        ]
        self._pages = compile_pages(root.elements("page"), context)
        self._security = _compile_security(root.find("security"), context)
        self._watermarks = [compile_watermark(mark, context) for mark in root.elements("watermark")]
        self._profile = context.value(root, "profile")
        self._refuses_missing = context.value(root, "missing-glyph") == "error"
        self._fonts = tuple(compile_fonts(root.elements("font"), context))
        self._attachments = [
            (element.place, compile_attachment(element, context))
            for element in root.elements("attachment")
        ]
        self._compile_uninserted(flows, context)
        self.member_uses = find_member_uses(root, declarations)
        self._roots: dict[str, Look] = {}

    def build(
        self,
        data: Mapping[str, Any],
        options: RenderOptions,
        findings: Findings,
        *,
        trial: Trial | None = None,
    ) -> Document:
        """Make the document of some data. Everything wrong goes to `findings`.

        With errors among them the document is not fit to be laid out. With a `trial` it is never
        laid out: page content is evaluated once, for its errors.

        Raises:
            AuthoringError: the loops of the document take too many turns.
        """
        with localcontext(ARITHMETIC):
            return self._build(data, options, findings, trial=trial)

    def _build(
        self,
        data: Mapping[str, Any],
        options: RenderOptions,
        findings: Findings,
        *,
        trial: Trial | None,
    ) -> Document:
        run = Run(findings, trial, self._uses)
        scope: Scope = {**data, "data": data, RUN: run, LOOP: ()}
        if self._has_totals:
            scope[TOTALS] = run.totals
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
        flows = tuple(make(scope, root) for make in self._flows)
        masters = self._pages(scope, root)
        marks = [mark for make in self._watermarks if (mark := make(scope, root)) is not None]
        security = self._security(scope) if self._security else None
        run.check_links()
        crossings = None
        if self._uses.gathers:
            blocks = [block for flow in flows for block in flow.blocks]
            crossings = Closing(run.gathered, findings).close(blocks, run.ids)
        return Document(
            info,
            masters,
            flows,
            None if options.is_draft else security,
            tuple(marks),
            findings.warnings,
            self._profile,
            build_attachments(self._attachments, scope, self._profile),
            self._refuses_missing,
            self._fonts,
            crossings,
        )

    def _formats(self, findings: Findings, settings: Mapping[str, Any]) -> Formats:
        lang, currency, zone = (settings[name] for name in _SETTINGS)
        try:
            formats = get_formats(lang or DEFAULT_LANGUAGE, currency, zone or "UTC")
        except ValueError as error:
            findings.error("unknown-setting", f"In document: {error}", self._root.place)
            return get_formats(DEFAULT_LANGUAGE, None, "UTC")
        if formats.is_fallback:
            warn_of_fallback(lang, findings, self._root.place)
        return formats

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

    def _compile_uninserted(self, flows: Mapping[str, Element], context: Context) -> None:
        """Compile flows nobody inserts too, for what is wrong in them; their names may be a loop's."""
        inserted = {name for name, *_ in context.inserted}
        aside = Context(
            self._sheet,
            self.findings,
            flows,
            context.names,
            summed=context.summed,
            uses=self._uses,
        )
        for name in flows.keys() - inserted:
            compile_flow(name, aside)


def compile_blueprint(root: Element, declarations: Declarations) -> Blueprint:
    """Compile a checked tree, once for all documents made from it."""
    return Blueprint(root, declarations)


# --- styles ---------------------------------------------------------------------------------------------


def make_style_sheet(root: Element) -> StyleSheet:
    """Read the colours and styles a document declares.

    What is wrong in them is reported by the checks and left out here: a style refers only to what
    is declared.
    """
    kind = ELEMENTS["color"].attributes["value"].kind
    colors = {}
    for element in root.elements("color"):
        parsed = _try_parse(kind.parse, element.attributes.get("value", ""))
        colors[element.attributes.get("name", "")] = BLACK if parsed is None else parsed
    families = {page.attributes.get("name", DEFAULT_FAMILY) for page in root.elements("page")}
    families.add(DEFAULT_FAMILY)
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
        own: dict[str, Any] = {}
        for name, text in element.attributes.items():
            spec = ELEMENTS["style"].attributes.get(name)
            if spec is None or name in ("name", "element", "extends", "final"):
                continue
            try:
                value = spec.kind.parse(text)
            except ValueError:
                continue  # reported by the checks of the text; the property keeps its default
            is_none = text.strip() in ("none", "transparent")
            if (value is not None or is_none) and self._is_declared(name, value):
                own[name] = value
        if own.get("number") is not None:
            own.setdefault("counter", counter_of(element))
        return spread(own)

    def _is_declared(self, name: str, value: Any) -> bool:
        if name == "page":
            return value in self._families
        return all(color in self._colors for color in color_names(value))


def _try_parse(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


# --- flows ----------------------------------------------------------------------------------------------


def _poured_flows(root: Element) -> list[str]:
    """Give the flows that fill pages: the body, then those that areas name."""
    areas = (area for page in root.elements("page") for area in page.elements("area"))
    return list(dict.fromkeys((BODY, *(area.attributes.get("flow", BODY) for area in areas))))


def _compile_poured(element: Element, context: Context) -> Callable[[Scope, Look], Flow]:
    name = element.attributes.get("name", BODY)
    content = compile_flow(name, context)
    page, most = context.attribute(element, "page"), context.attribute(element, "max-pages")
    source = Source(element.place)

    def build(scope: Scope, root: Look) -> Flow:
        blocks: list[Any] = []
        content.build(scope, root, blocks)
        return Flow(source, name, page.read(scope), tuple(blocks), most.read(scope))

    return build


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


# --- security -------------------------------------------------------------------------------------------


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
