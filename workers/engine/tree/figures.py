"""Images and bar codes, which stand as blocks and in lines alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, source_at
from workers.engine.tree.expressions import compile_value
from workers.engine.tree.nodes import AnyImage, Barcode, Image, read_image, where_in_loops
from workers.engine.tree.run import RUN, Evaluation, Run, Trial, show_at
from workers.engine.tree.runtime import Scope

_OF_A_PAGE: Final = frozenset({"page", "totals"})  # names whose value only layout knows


def compile_figure(element: Element, context: Context) -> Part:
    """Compile an img or a barcode."""
    return (
        _compile_image(element, context)
        if element.tag == "img"
        else _compile_barcode(element, context)
    )


def read_picture(value: str | bytes | None) -> AnyImage | None:
    """Give the picture of an image attribute, which may be left out."""
    return None if value is None else read_image(value)


def _compile_image(element: Element, context: Context) -> Part:
    look = context.look(element)
    source, place = source_at(element.place), element.place
    src, alt, identity = (context.attribute(element, name) for name in ("src", "alt", "id"))
    fit, optional, position = (
        context.attribute(element, name) for name in ("object-fit", "optional", "object-position")
    )
    sheet = context.sheet

    def build_image(scope: Scope, parent: Look, out: list[Any]) -> None:
        picture = read_picture(src.read(scope))
        if picture is None:
            if not optional.read(scope):
                scope[RUN].findings.error("missing-image", "The image has no src", place)
            return
        own = look.find(scope, parent)
        across, down = (sheet.to_length(offset, own) for offset in position.read(scope))
        out.append(
            Image(
                source(scope),
                own.style,
                picture,
                alt.read(scope) or "",
                fit.read(scope),
                optional.read(scope),
                read_id(identity, scope),
                (across, down),
            )
        )

    attributes = (src, alt, identity, fit, optional, position)
    return Part(
        build_image,
        look.is_static and identity.constant is None and all(a.is_static for a in attributes),
    )


def _compile_barcode(element: Element, context: Context) -> Part:
    look, sheet = context.look(element), context.sheet
    source = source_at(element.place)
    kind, alt, level, module, quiet, shows_text, identity = (
        context.attribute(element, name)
        for name in ("type", "alt", "level", "module", "quiet", "show-text", "id")
    )
    columns, correction, add_on, escapes = (
        context.attribute(element, name) for name in ("columns", "correction", "add-on", "escapes")
    )
    value = _compile_barcode_value(element, context)
    is_of_page = any(expression.all_names & _OF_A_PAGE for expression in value.expressions)

    def build_barcode(scope: Scope, parent: Look, out: list[Any]) -> None:
        run: Run = scope[RUN]
        errors_before = run.findings.error_count
        own = look.find(scope, parent)
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
        is_sound = run.findings.error_count == errors_before
        if run.trial is not None and is_sound and not is_of_page:
            _try_barcode(run, run.trial, barcode)
        out.append(barcode)

    return Part(build_barcode, is_static=False)


def _try_barcode(run: Run, trial: Trial, barcode: Barcode) -> None:
    problem = trial.check_barcode(barcode)
    if problem is not None:
        source = barcode.source
        run.findings.error(
            problem.code, f"{problem.text}{where_in_loops(source.loop)}", source.place
        )


def _compile_barcode_value(element: Element, context: Context) -> Evaluation:
    """Compile the value: exactly one expression may give a record, anything else is text."""
    place = element.place
    template = context.template(
        element.attributes.get("value", ""), place, is_literal=element.is_literal
    )
    sole = template.sole
    if sole is None:
        return context.text(template, place)
    evaluate = compile_value(sole)

    def read(scope: Scope) -> str | Mapping[str, Any]:
        value = evaluate(scope)
        return value if isinstance(value, dict) else show_at(value, template, scope, place)

    return Evaluation(read, (sole,), place, "")


def read_id(attribute: Any, scope: Scope) -> str | None:
    """Give an element's id, noted in the run so that it stays unique and links find it."""
    name: str | None = attribute.read(scope)
    if name is not None:
        scope[RUN].note_id(name, attribute.place)
    return name
