"""Images, bar codes and form fields, as blocks and in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workers.engine.barcodes import adapt_signs
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.names import BUTTON_VALUE, OFF
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree import nodes
from workers.engine.tree.build_state import BuildState, Evaluation, Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, collect, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame, block
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.expressions.running_text import collapse_and_trim
from workers.engine.tree.expressions.runtime import to_text
from workers.engine.tree.node_values import FieldKind, FieldOption
from workers.engine.tree.styles.cascade import ComputedStyle

_OF_A_PAGE: Final = frozenset({"page", "totals"})  # names whose value only layout knows


@block("src", "alt", "object-fit", "optional", "object-position", "page")
def make_image(frame: Frame) -> nodes.Image | None:
    """Make an image, None of one without source."""
    src, alt, fit, is_optional, position, page = frame.read()
    if src is None:
        if not is_optional:
            frame.state.findings.error("missing-image", "The image has no src", frame.location)
        return None
    is_spared = frame.computed.inherited.has_optional_images
    fallback = None
    if is_spared and alt:
        plain = frame.anonymous()
        written = nodes.Paragraph(
            frame.source, nodes.Role.P, plain.style, (nodes.TextRun(alt, plain.style.text),)
        )
        fallback = frame.box((written,), None, plain)
    across, down = map(frame.to_length, position)
    return nodes.Image(
        frame.source,
        frame.style,
        src._replace(page=page),
        alt or "",
        fit,
        is_optional or is_spared,
        (across, down),
        fallback,
        id=frame.read_id(),
    )


def compile_barcode(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `barcode`."""
    names = ("type", "alt", "level", "module", "quiet", "show-text", "columns", "correction")
    more = ("add-on", "escapes", "dpi", "bar-width-reduction")
    value = _compile_barcode_value(element, context)
    is_of_page = any(expression.all_names & _OF_A_PAGE for expression in value.expressions)

    def make(frame: Frame) -> nodes.Barcode:
        state = frame.state
        errors_before = state.findings.error_count
        kind, alt, level, module, is_quiet, shows_text, *rest = frame.read()
        columns, correction, add_on, has_escapes, dpi, reduction = rest
        barcode = nodes.Barcode(
            kind or "",
            value.evaluate(frame.scope),
            level,
            is_quiet,
            columns,
            correction,
            add_on or "",
            has_escapes,
            dpi,
            source=frame.source,
            style=frame.style,
            alt=alt or "",
            shows_text=shows_text,
            module=None if module is None else frame.to_points(module),
            reduction=frame.to_points(reduction),
            id=frame.read_id(),
        )
        if barcode.symbology == "swiss-qr":
            warn_of_signs("swiss-qr", barcode.value, state, element.location)
        state.count_barcode(barcode)
        is_sound = state.findings.error_count == errors_before
        if state.validator is not None and is_sound and not is_of_page:
            problem = state.validator(barcode)
            if problem is not None:
                code, text = problem
                loops = nodes.describe_loops(barcode.source.loop)
                state.findings.error(code, f"{text}{loops}", element.location)
        return barcode

    return BlockBuilder(element, context, *names, *more, make=make)


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

    def read(scope: Scope) -> str | Mapping[str, object]:
        value = evaluate(scope)
        return value if isinstance(value, dict) else to_text(value)

    return Evaluation(read, (sole,), location, "")


def warn_of_signs(name: str, value: object, state: BuildState, location: SourceLocation) -> None:
    """Warn of the signs of a Swiss bill that are replaced by accepted ones."""
    _, replaced = adapt_signs(value) if isinstance(value, Mapping) else (value, "")
    if replaced:
        shown = ", ".join(f'"{sign}" (U+{ord(sign):04X})' for sign in replaced[:5])
        message = f'"{name}" holds {shown}, for which the nearest accepted signs are written'
        state.findings.warn("qr-bill-value", message, location)


MAX_VALUE: Final = 10_000  # characters; PDF/A allows strings of 32,767 bytes (ISO 19005-2, 6.1.13)
MAX_OPTIONS: Final = 1_000  # of one field
_NAMES: Final = (
    *("name", "label", "value", "checked", "required", "readonly", "interactive"),
    *("max-length", "comb"),
)
_DEFAULT_BUTTON: Final = "yes"
_SHOWN: Final = 40  # characters of a value in a message
_KINDS: Final = {
    "textarea": FieldKind.MULTILINE,
    "select": FieldKind.CHOICE,
    "signature": FieldKind.SIGNATURE,
    "text": FieldKind.TEXT,
    "checkbox": FieldKind.CHECKBOX,
    "radio": FieldKind.RADIO,
}


class FieldBuilder(BlockBuilder):
    """Builds the node of one form field."""

    __slots__ = ("_kind", "_names", "_options")

    def __init__(self, element: Element, context: CompileContext) -> None:
        self._names = [name for name in _NAMES if name in ELEMENTS[element.tag].attributes]
        super().__init__(element, context, *self._names)
        kind = element.attributes.get("type", "text") if element.tag == "input" else element.tag
        self._kind = _KINDS.get(kind, FieldKind.TEXT)  # another type is reported by the checks
        self._options = sequence(
            compile_controlled(child, context, _compile_option)
            for child in element.elements("option")
        )

    def make(self, frame: Frame) -> nodes.FormField | None:
        """Return the field, None if it has no name."""
        state, own = frame.state, frame.style
        errors_before = state.findings.error_count
        scope = frame.scope = frame.enter()  # values are formatted in its language
        values = dict.fromkeys(_NAMES) | dict(zip(self._names, frame.read(), strict=True))
        name = values["name"]
        if not name:
            if state.findings.error_count == errors_before:
                self._report(scope, "wrong-value", "The field has no name: `name` is empty")
            return None
        options: tuple[FieldOption, ...] = collect(self._options, scope, frame.computed)
        cells = values["comb"] or 0
        node = nodes.FormField(
            frame.source,
            own,
            self._kind,
            name,
            collapse_and_trim(values["label"] or ""),
            self._read_value(scope, name, values["value"] or "", options),
            bool(values["checked"]),
            bool(values["required"]),
            bool(values["readonly"]),
            bool(values["interactive"]),
            cells or values["max-length"],
            cells,
            options,
            id=frame.read_id(),
        )
        if node.max_length is not None and len(node.value) > node.max_length:
            message = f'The value of the field "{name}" has {len(node.value)} characters, accepted are {node.max_length}'
            self._report(scope, "field-value", message)
        state.form_fields.add(node, state.findings)
        state.count_toward("too-many-fields", self.plain.location)
        return node

    def _read_value(
        self, scope: Scope, name: str, value: str, options: Sequence[FieldOption]
    ) -> str:
        if self._kind.is_button:
            return self._check_button(scope, value)
        if len(value) > MAX_VALUE:
            message = f'The value of the field "{name}" has {len(value):,} characters, accepted are {MAX_VALUE:,}'
            self._report(scope, "field-value", message)
        if self._kind is FieldKind.TEXT:
            return collapse_and_trim(value)
        if self._kind is FieldKind.CHOICE:
            self._check_options(scope, name, value, options)
        return value.replace("\r\n", "\n").replace("\r", "\n")

    def _check_button(self, scope: Scope, value: str) -> str:
        if not value and self._kind is FieldKind.CHECKBOX:
            return _DEFAULT_BUTTON
        try:
            return BUTTON_VALUE.parse(value)
        except ValueError as error:
            message = f'`value` of a {self._kind.value} is "{value[:_SHOWN]}", accepted is {error}'
            self._report(scope, "wrong-value", message)
            return OFF

    def _check_options(
        self, scope: Scope, name: str, value: str, options: Sequence[FieldOption]
    ) -> None:
        if len(options) > MAX_OPTIONS:
            message = (
                f'The field "{name}" has {len(options):,} options, accepted are {MAX_OPTIONS:,}'
            )
            self._report(scope, "field-options", message)
            return
        values = [option.value for option in options]
        if len(set(values)) < len(values):
            twice = next(one for one in values if values.count(one) > 1)
            message = f'The field "{name}" has two options of the value "{twice[:_SHOWN]}"'
            self._report(scope, "field-options", message)
        elif value and value not in values:
            message = f'The value of the field "{name}" is "{value[:_SHOWN]}", which none of its options has'
            self._report(scope, "field-value", message)

    def _report(self, scope: Scope, code: str, message: str) -> None:
        where = self.plain.location
        scope.state.findings.error(code, f"{message}{nodes.describe_loops(scope.loop)}", where)


def _compile_option(element: Element, context: CompileContext) -> NodeBuilder:
    written = "".join(child.text for child in element.children if isinstance(child, Text))
    location = element.location
    text: Evaluation = context.compile_text(context.parse_template(written, location), location)
    value = context.compile_attribute(element, "value")

    def build(scope: Scope, _parent: ComputedStyle, out: Nodes) -> None:
        shown = collapse_and_trim(text.evaluate(scope) or "")
        stated = value.read(scope)
        out.append(FieldOption(shown if stated is None else stated, shown))

    return build
