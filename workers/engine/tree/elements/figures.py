"""Images and bar codes, as blocks and in lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import (
    BuildState,
    Evaluation,
    LayoutValidator,
    Scope,
    value_to_text,
)
from workers.engine.tree.compiler.builders import NodeBuilder, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.image_sources import ImageSource, parse_image_source
from workers.engine.tree.nodes import (
    Barcode,
    Container,
    Image,
    Paragraph,
    Role,
    TextRun,
    describe_loops,
)
from workers.engine.tree.payment_signs import warn_of_signs
from workers.engine.tree.styles.cascade import ComputedStyle

_OF_A_PAGE: Final = frozenset({"page", "totals"})  # names whose value only layout knows


def compile_figure(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `img` or a `barcode`."""
    return (
        _compile_image(element, context)
        if element.tag == "img"
        else _compile_barcode(element, context)
    )


def read_image_source(value: str | bytes | None, page: int = 1) -> ImageSource | None:
    """Return the source of an image attribute, None if it is not given; `page` is that of a PDF."""
    return None if value is None else parse_image_source(value, page)


def _compile_image(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element)
    source, location = source_maker(element.location), element.location
    src, alt, identity = (context.compile_attribute(element, name) for name in ("src", "alt", "id"))
    fit, optional, position, page = (
        context.compile_attribute(element, name)
        for name in ("object-fit", "optional", "object-position", "page")
    )
    sheet = context.sheet

    def build_image(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        picture = read_image_source(src.read(scope), page.read(scope))
        if picture is None:
            if not optional.read(scope):
                scope.state.findings.error("missing-image", "The image has no src", location)
            return
        own = element_style.compute(scope, parent)
        across, down = (sheet.to_length(offset, own) for offset in position.read(scope))
        text, place = alt.read(scope) or "", source(scope)
        fallback = None
        if own.inherited.has_optional_images and text:
            plain = sheet.compute_anonymous(own).style
            written = Paragraph(place, Role.P, plain, (TextRun(text, plain.text),))
            fallback = Container(place, Role.DIV, plain, (written,))
        out.append(
            Image(
                place,
                own.style,
                picture,
                text,
                fit.read(scope),
                optional.read(scope) or own.inherited.has_optional_images,
                read_id(identity, scope),
                (across, down),
                fallback,
            )
        )

    attributes = (src, alt, identity, fit, optional, position, page)
    return NodeBuilder(
        build_image,
        element_style.is_static
        and identity.constant is None
        and all(a.is_static for a in attributes),
    )


def _compile_barcode(element: Element, context: CompileContext) -> NodeBuilder:
    element_style, sheet = context.compile_style(element), context.sheet
    source = source_maker(element.location)
    kind, alt, level, module, quiet, shows_text, identity = (
        context.compile_attribute(element, name)
        for name in ("type", "alt", "level", "module", "quiet", "show-text", "id")
    )
    columns, correction, add_on, escapes = (
        context.compile_attribute(element, name)
        for name in ("columns", "correction", "add-on", "escapes")
    )
    value = _compile_barcode_value(element, context)
    is_of_page = any(expression.all_names & _OF_A_PAGE for expression in value.expressions)

    def build_barcode(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        state: BuildState = scope.state
        errors_before = state.findings.error_count
        own = element_style.compute(scope, parent)
        width = module.read(scope)
        barcode = Barcode(
            source(scope),
            own.style,
            kind.read(scope) or "",
            value.evaluate(scope),
            alt.read(scope) or "",
            shows_text.read(scope),
            level.read(scope),
            None if width is None else sheet.to_points(width, own),
            quiet.read(scope),
            read_id(identity, scope),
            columns.read(scope),
            correction.read(scope),
            add_on.read(scope) or "",
            escapes.read(scope),
        )
        if barcode.symbology == "swiss-qr":
            warn_of_signs("swiss-qr", barcode.value, state, element.location)
        state.count_barcode(barcode)
        is_sound = state.findings.error_count == errors_before
        if state.validator is not None and is_sound and not is_of_page:
            _check_barcode(state, state.validator, barcode)
        out.append(barcode)

    return NodeBuilder(build_barcode, is_static=False)


def _check_barcode(state: BuildState, validator: LayoutValidator, barcode: Barcode) -> None:
    problem = validator.check_barcode(barcode)
    if problem is not None:
        source = barcode.source
        state.findings.error(
            problem.code, f"{problem.text}{describe_loops(source.loop)}", source.location
        )


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


def read_id(attribute: Any, scope: Scope) -> str | None:
    """Return an element's id, registered in the build."""
    name: str | None = attribute.read(scope)
    if name is not None:
        scope.state.register_id(name, attribute.location)
    return name
