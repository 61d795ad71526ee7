"""Stage three: compile a template once, and build a document for each set of data."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, localcontext
from functools import partial
from heapq import heappop, heappush
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.merge.declarations import Declarations, DeclaredShape, declare_names
from workers.engine.merge.payload import SETTINGS
from workers.engine.ports import ConformanceProfiles, DocumentInfo, RenderOptions, SignatureRequest
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.tree.build_state import BuildState, CheckBarcode, Evaluation, Scope
from workers.engine.tree.compiler.attributes import warn_of_fallback
from workers.engine.tree.compiler.builders import collect, sequence
from workers.engine.tree.compiler.context import (
    CompileContext,
    UnresolvedName,
    report_unknown_names,
)
from workers.engine.tree.document import Document, Flow
from workers.engine.tree.elements.attachments import build_attachments, compile_attachment
from workers.engine.tree.elements.blocks import (
    compile_assertion,
    compile_blocks,
    compile_flow,
    compile_unused,
)
from workers.engine.tree.elements.declarations import (
    compile_fonts,
    compile_security,
    compile_signature,
    make_style_sheet,
)
from workers.engine.tree.elements.einvoices import (
    CompiledInvoice,
    build_einvoice,
    find_profiles,
    find_wanted,
)
from workers.engine.tree.elements.pages import compile_pages, compile_watermark
from workers.engine.tree.expressions.environment import DOCUMENT_NAMES, TOTALS
from workers.engine.tree.expressions.formats import (
    DEFAULT_LANGUAGE,
    SIGNS,
    Formats,
    get_currency_digits,
    get_formats,
)
from workers.engine.tree.expressions.grammar import ExpressionSyntaxError, parse_expression
from workers.engine.tree.expressions.messages import compile_messages
from workers.engine.tree.expressions.runtime import ARITHMETIC, Value
from workers.engine.tree.memo import TemplateMemo
from workers.engine.tree.nodes import Source
from workers.engine.tree.page_values import RunningValues
from workers.engine.tree.references.counters import Footnotes
from workers.engine.tree.references.resolver import (
    CrossReferences,
    ReferenceResolver,
    find_reference_features,
)
from workers.engine.tree.styles.cascade import ComputedStyle

BODY: Final = "body"
MAX_FILENAME: Final = 150
_INFORMATION: Final = ("title", "author", "subject", "keywords", "filename")
_SETTINGS: Final = ("lang", "currency", "timezone")


class CompiledTemplate:
    """A compiled template: its expressions, styles and elements, ready to build documents.

    `findings` hold for every document built from it. `member_uses` are the members it reads that no
    field declares.
    """

    def __init__(self, root: Element, declarations: Declarations) -> None:
        self.findings = Findings()
        self._root = root
        self._settings = declarations.settings
        self._sheet = make_style_sheet(root)
        flows = {flow.attributes.get("name", BODY): flow for flow in root.elements("flow")}
        self._features = find_reference_features(root)
        names = _known_names(declarations)
        if declarations.settings:  # which hide data of that name
            names[SETTINGS] = None
        for name in self._features.given_names:
            names.pop(name, None)
        self.messages = compile_messages(root, self.findings)
        context = CompileContext(
            self._sheet,
            self.findings,
            flows,
            names,
            compile_blocks,
            features=self._features,
            messages=self.messages,
        )
        self._unresolved: list[UnresolvedName] = context.unresolved
        self._lets = _compile_lets(declarations, context)
        context = context.with_names(dict.fromkeys(name for name, _ in self._lets))
        self._assertions = sequence(
            compile_assertion(element, context) for element in declarations.assertions
        )
        self._attributes = {
            name: context.compile_attribute(root, name) for name in (*_INFORMATION, *_SETTINGS)
        }
        self._minus = SIGNS[read_attribute(root, "minus-sign")]
        self._constant_settings = {name: self._attributes[name].constant for name in _SETTINGS}
        self._formats(self.findings, self._constant_settings)
        self._has_open_settings = not all(self._attributes[n].is_static for n in _SETTINGS)
        self._flows = [
            _compile_paginated_flow(flows[name], context)
            for name in _list_paginated_flows(root)
            if name in flows
        ]
        self._pages = compile_pages(root.elements("page"), context)
        self._signature: Callable[[Scope], SignatureRequest | None] | None = None
        security = root.find("security")
        if security is not None and "sign" in security.attributes:
            self._signature, security = compile_signature(security, context), None
        self._security = compile_security(security, context)
        self._watermarks = [compile_watermark(mark, context) for mark in root.elements("watermark")]
        self._profiles: ConformanceProfiles = (
            read_attribute(root, "profile") or ConformanceProfiles()
        )
        is_tagged = bool(read_attribute(root, "tagged"))
        requires_tags = self._profiles.is_tagged or ("tagged" in root.attributes and is_tagged)
        self._is_duplex = bool(read_attribute(root, "duplex"))
        self._attachments = [
            (element.location, compile_attachment(element, context))
            for element in root.elements("attachment")
        ]
        self._invoices = [CompiledInvoice(one, context) for one in root.elements("einvoice")]
        self._compile_uninserted(flows, context)
        self.member_uses = tuple(context.member_uses)
        self._make_document = partial(
            Document,
            output_intent=read_attribute(root, "output-intent"),
            refuses_missing_glyphs=read_attribute(root, "missing-glyph") == "error",
            fonts=tuple(compile_fonts(root.elements("font"), context)),
            is_tagged=requires_tags or is_tagged,
            requires_tags=requires_tags,
            has_print_checks=bool(read_attribute(root, "print-checks")),
            has_floats=self._features.has_floats,
            memo=TemplateMemo(),
        )

    def build(
        self,
        data: Mapping[str, Value],
        options: RenderOptions,
        findings: Findings,
        *,
        validator: CheckBarcode | None = None,
    ) -> Document:
        """Build the document of some data; everything wrong is added to `findings`.

        With errors among them the document must not be laid out. With a `validator` it never is:
        page content is evaluated once, so that its errors are found.

        Raises:
            AuthoringError: a limit of the document is exceeded, such as its loop iterations.
        """
        with localcontext(ARITHMETIC):
            return self._build(data, options, findings, validator=validator)

    def _build(
        self,
        data: Mapping[str, Value],
        options: RenderOptions,
        findings: Findings,
        *,
        validator: CheckBarcode | None,
    ) -> Document:
        state = BuildState(findings, validator, self._features)
        state.data = data
        state.judge = options.judge
        scope = self._open_scope(data, state, options)
        lets = dict(self._lets)
        report_unknown_names(self._unresolved, scope.names, lets, findings)  # which set names
        lang = self._apply_settings(scope, options)
        self._set_lets(scope)
        root = self._sheet.compute_root(lang)
        self._assertions(scope, root, [])
        info = self._information(scope, lang)
        scope.names["doc"]["title"] = info.title
        wanted = find_wanted(self._invoices, scope)
        state.rendered_terms.is_paused = wanted is None and not self._attachments
        flows = tuple(make(scope, root) for make in self._flows)
        masters = self._pages(scope, root)
        marks = [mark for make in self._watermarks if (mark := make(scope, root)) is not None]
        security = self._security(scope) if self._security else None
        signature = self._signature(scope) if self._signature else None
        state.check_links()
        footnotes = state.footnotes.close()
        cross_references = self._resolve_references(state, footnotes)
        stated = build_einvoice(wanted, scope)
        profiles = find_profiles(
            stated, self._profiles, findings, is_encrypted=security is not None
        )
        attachments = build_attachments(
            self._attachments, scope, profiles, stated if options.embeds_invoice else None
        )
        if validator is not None:  # content validated later has no page values
            state.rendered_terms.is_paused = True
        running = state.references.running_values if self._features.running else None
        return self._make_document(
            info,
            masters,
            flows,
            None if options.is_draft else security,
            tuple(marks),
            findings.warnings,
            profiles,
            attachments=attachments,
            cross_references=cross_references,
            footnotes=footnotes,
            is_duplex=self._is_duplex if options.is_duplex is None else options.is_duplex,
            reserved_zones=options.reserved_zones,
            running_values=None if running is None else RunningValues(running),
            has_form_fields=state.form_fields.has_interactive,
            einvoice=stated,
            signature=None if options.is_draft else signature,
        )

    def _open_scope(
        self, data: Mapping[str, Value], state: BuildState, options: RenderOptions
    ) -> Scope:
        """Return the scope of a document, whose settings are the constant ones."""
        template = {"id": options.template_id, "version": options.template_version}
        names = {**data, "data": data}
        names["doc"] = {
            "title": "",
            "template": None if options.template_id is None else template,
            "draft": options.is_draft,
        }
        if self._settings:
            names[SETTINGS] = self._settings
        if TOTALS in self._features.given_names:
            names[TOTALS] = state.totals
        return Scope(names, get_formats(DEFAULT_LANGUAGE, None, "UTC"), state)

    def _apply_settings(self, scope: Scope, options: RenderOptions) -> str:
        """Set language, currency, time zone and time before anything is written; return the language."""
        settings = self._constant_settings
        self._enter_settings(scope, settings, options)
        if not self._has_open_settings:
            return str(settings["lang"])
        # They may name a `let`, and a `let` may write by them: it is computed twice.
        state = scope.state
        scope.state = BuildState(Findings(), state.validator, self._features)
        self._set_lets(scope)
        scope.state = state
        settings = {name: self._attributes[name].read(scope) for name in _SETTINGS}
        self._enter_settings(scope, settings, options)
        return str(settings["lang"])

    def _enter_settings(
        self, scope: Scope, settings: Mapping[str, str | None], options: RenderOptions
    ) -> None:
        formats = scope.formats = self._formats(scope.state.findings, settings)
        currency, lang = formats.currency, settings["lang"]
        digits = Decimal(get_currency_digits(currency)) if currency else None
        scope.names["doc"] |= {"lang": lang, "currency_digits": digits}
        now = options.now.astimezone(formats.zone)
        scope.names |= {"now": now, "today": now.date()}
        scope.messages, scope.language = self.messages, lang or DEFAULT_LANGUAGE

    def _set_lets(self, scope: Scope) -> None:
        for name, value in self._lets:
            scope.names[name] = value.evaluate(scope)

    def _resolve_references(
        self, state: BuildState, footnotes: Footnotes | None
    ) -> CrossReferences | None:
        """Resolve the references of a document, None where nothing refers to anything."""
        if not self._features.needs_collection and not (
            footnotes is not None and footnotes.is_numbered_by_layout
        ):
            return None
        return ReferenceResolver(state.references, state.findings).resolve(state.ids)

    def _formats(self, findings: Findings, settings: Mapping[str, str | None]) -> Formats:
        lang, currency, zone = (settings[name] for name in _SETTINGS)
        try:
            formats = get_formats(lang or DEFAULT_LANGUAGE, currency, zone or "UTC", self._minus)
        except ValueError as error:
            findings.error("unknown-setting", f"In document: {error}", self._root.location)
            return get_formats(DEFAULT_LANGUAGE, None, "UTC")
        if formats.is_fallback:
            warn_of_fallback(lang, findings, self._root.location)
        return formats

    def _information(self, scope: Scope, lang: str) -> DocumentInfo:
        title, author, subject, keywords, filename = (
            self._attributes[name].read(scope) for name in _INFORMATION
        )
        name = self._filename(filename, scope.state.findings)
        title, author, subject, keywords = map(_one_line, (title, author, subject, keywords))
        return DocumentInfo(title, author, subject, keywords, lang, name)

    def _filename(self, written: str | None, findings: Findings) -> str | None:
        name = _one_line(written)
        safe = re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f]', "-", name).lstrip(".")[:MAX_FILENAME]
        if safe != name:
            message = f'The file name has characters that file systems refuse; it becomes "{safe}"'
            findings.warn("filename", message, self._root.location)
        return safe or None

    def _compile_uninserted(self, flows: Mapping[str, Element], context: CompileContext) -> None:
        """Compile flows and parts that are used nowhere, for the errors in them."""
        inserted = {name for name, *_ in context.compiled_flows}
        aside = replace(context, unresolved=[], compiled_flows={}, used=set())
        for name in flows.keys() - inserted:
            compile_flow(name, aside)
        for builder in self._root.elements("part"):
            compile_unused(builder, aside)


# --- flows ----------------------------------------------------------------------------------------------


def _list_paginated_flows(root: Element) -> list[str]:
    """Return the names of the flows that fill pages: the body, then those that areas name."""
    areas = (area for page in root.elements("page") for area in page.elements("area"))
    return list(dict.fromkeys((BODY, *(area.attributes.get("flow", BODY) for area in areas))))


def _compile_paginated_flow(
    element: Element, context: CompileContext
) -> Callable[[Scope, ComputedStyle], Flow]:
    name = element.attributes.get("name", BODY)
    content = compile_flow(name, context)
    page, most = context.compile_attributes(element, "page", "max-pages")
    source = Source(element.location)

    def build(scope: Scope, root: ComputedStyle) -> Flow:
        scope.state.footnotes.begin_flow()
        blocks = collect(content, scope, root)
        return Flow(source, name, page.read(scope), blocks, most.read(scope))

    return build


# --- data -----------------------------------------------------------------------------------------------


def _known_names(declarations: Declarations) -> dict[str, DeclaredShape | None]:
    known = {**dict.fromkeys(declarations.defaults), **declare_names(declarations)}
    return {**known, **dict.fromkeys(DOCUMENT_NAMES)}


def _compile_lets(
    declarations: Declarations, context: CompileContext
) -> list[tuple[str, Evaluation]]:
    """Compile the lets, each after those that it uses, which may be written below it."""
    waiting = {let.attributes["name"]: let for let in declarations.lets}
    order = [*waiting]
    places = {name: at for at, name in enumerate(order)}
    before: list[set[str]] = []
    users: defaultdict[str, list[int]] = defaultdict(list)
    for at, (name, let) in enumerate(waiting.items()):
        used = _names_used(let) & waiting.keys() - {name}
        # Data hide a let below.
        before.append({each for each in used if each not in context.names or places[each] < at})
        for each in before[at]:
            users[each].append(at)
    ready = [at for at, used in enumerate(before) if not used]
    compiled: list[tuple[str, Evaluation]] = []
    while waiting:
        # Of a circle, which is reported, the first.
        name = order[heappop(ready)] if ready else next(iter(waiting))
        let = waiting.pop(name)
        compiled.append((name, context.compile_expression(let.attributes["value"], let.location)))
        context = context.with_names({name: None})
        for user in users[name]:
            before[user].discard(name)
            if not before[user] and order[user] in waiting:
                heappush(ready, user)
    return compiled


def _names_used(let: Element) -> frozenset[str]:
    try:
        return parse_expression(let.attributes["value"]).all_names
    except ExpressionSyntaxError:
        return frozenset()


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
