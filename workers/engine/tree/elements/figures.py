"""Images and bar codes, as blocks and in lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workers.engine.barcodes import adapt_signs
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import (
    BuildState,
    Evaluation,
    Scope,
    value_to_text,
)
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.image_sources import ImageSource, parse_image_source
from workers.engine.tree.nodes import (
    Barcode,
    Image,
    Paragraph,
    Role,
    TextRun,
    describe_loops,
)
from workers.engine.tree.styles.cascade import ComputedStyle

_OF_A_PAGE: Final = frozenset({"page", "totals"})  # names whose value only layout knows


def compile_figure(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `img` or a `barcode`."""
    compile_tag = _compile_image if element.tag == "img" else _compile_barcode
    return compile_tag(element, context)


def read_image_source(value: str | bytes | None, page: int = 1) -> ImageSource | None:
    """Return the source of an image attribute, None if it is not given; `page` is that of a PDF."""
    return None if value is None else parse_image_source(value, page)


def _compile_image(element: Element, context: CompileContext) -> NodeBuilder:
    names = ("src", "alt", "object-fit", "optional", "object-position", "page")
    common, sheet = BlockBuilder(element, context, *names), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        src, alt, fit, is_optional, position, page = common.read(scope)
        picture = read_image_source(src, page)
        if picture is None:
            if not is_optional:
                message = "The image has no src"
                scope.state.findings.error("missing-image", message, element.location)
            return
        own = common.compute(scope, parent)
        across, down = (sheet.to_length(offset, own) for offset in position)
        place, is_spared = common.source(scope), own.inherited.has_optional_images
        fallback = None
        if is_spared and alt:
            plain = sheet.compute_anonymous(own)
            written = Paragraph(place, Role.P, plain.style, (TextRun(alt, plain.style.text),))
            fallback = common.box(scope, plain, (written,), None)
        out.append(
            Image(
                place,
                own.style,
                picture,
                alt or "",
                fit,
                is_optional or is_spared,
                common.read_id(scope),
                (across, down),
                fallback,
            )
        )

    return NodeBuilder(build, common.is_static)


def _compile_barcode(element: Element, context: CompileContext) -> NodeBuilder:
    names = ("type", "alt", "level", "module", "quiet", "show-text", "columns", "correction")
    common = BlockBuilder(element, context, *names, "add-on", "escapes")
    value = _compile_barcode_value(element, context)
    is_of_page = any(expression.all_names & _OF_A_PAGE for expression in value.expressions)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        state = scope.state
        errors_before = state.findings.error_count
        own = common.compute(scope, parent)
        kind, alt, level, module, is_quiet, shows_text, *rest = common.read(scope)
        columns, correction, add_on, has_escapes = rest
        barcode = Barcode(
            kind or "",
            value.evaluate(scope),
            level,
            is_quiet,
            columns,
            correction,
            add_on or "",
            has_escapes,
            source=common.source(scope),
            style=own.style,
            alt=alt or "",
            shows_text=shows_text,
            module=None if module is None else context.sheet.to_points(module, own),
            id=common.read_id(scope),
        )
        if barcode.symbology == "swiss-qr":
            warn_of_signs("swiss-qr", barcode.value, state, element.location)
        state.count_barcode(barcode)
        is_sound = state.findings.error_count == errors_before
        if state.validator is not None and is_sound and not is_of_page:
            problem = state.validator(barcode)
            if problem is not None:
                code, text = problem
                loops = describe_loops(barcode.source.loop)
                state.findings.error(code, f"{text}{loops}", element.location)
        out.append(barcode)

    return NodeBuilder(build, is_static=False)


def _compile_barcode_value(element: Element, context: CompileContext) -> Evaluation:
    """Compile the value: exactly one expression may evaluate to a record, anything else is text."""
    location = element.location
    template = context.parse_template(
        element.attributes.get("value", ""), location, is_literal=element.is_literal
    )
    sole = template.sole
    if sole is None:
        return context.compile_text(template, location)
    evaluate = compile_value(sole)

    def read(scope: Scope) -> str | Mapping[str, Any]:
        value = evaluate(scope)
        return value if isinstance(value, dict) else value_to_text(value, template, scope, location)

    return Evaluation(read, (sole,), location, "")


def warn_of_signs(name: str, value: Any, state: BuildState, location: SourceLocation) -> None:
    """Warn of the signs of a Swiss bill that are replaced by accepted ones."""
    _, replaced = adapt_signs(value) if isinstance(value, Mapping) else (value, "")
    if replaced:
        shown = ", ".join(f'"{sign}" (U+{ord(sign):04X})' for sign in replaced[:5])
        state.findings.warn(
            "qr-bill-value",
            f'"{name}" holds {shown}, for which the nearest accepted signs are written',
            location,
        )
