"""Expressions compiled once to plain Python functions.

The generated code calls nothing but `runtime`, `filters` and `formats`; members are read from
dictionaries, never as attributes. Each expression has two forms. The fast form raises Python's own
exceptions; the careful form, generated once the fast one has failed, explains the failure to the
author.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from types import CodeType
from typing import Any, Final

from jinja2 import nodes

from workers.engine.caches import cache_short
from workers.engine.characters import has_right_to_left
from workers.engine.tree.expressions import runtime
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.filters import FILTERS, Filter, FilterKind
from workers.engine.tree.expressions.grammar import (
    ARITHMETIC_SIGNS,
    COMPARISON_SIGNS,
    FUNCTIONS,
    Expression,
    TextTemplate,
    find_row_expression,
    parse_expression,
)
from workers.engine.tree.expressions.running_text import isolate
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS, ExpressionError, Value

# Code takes some five times its text: 8 MB of a process at most.
_CACHED_CODE: Final = 2_000
_CACHED_CHARACTERS: Final = 800
_MAX_INDENT: Final = 12  # Python accepts 20 `try` in each other, and 100 indents
_MAX_TERMS: Final = 100  # of one sum in generated code, which Python's compiler recurses into

Collapse = Callable[[str], str]


@cache_short(lambda expression: len(expression.text))
def compile_value(expression: Expression) -> Callable[[Environment], Value]:
    """Compile an expression to a function of the scope, which raises one of EVALUATION_ERRORS."""
    return _CodeGenerator().function(lambda generator: generator.emit(expression.node))


@cache_short(lambda template: template.length)
def compile_text(template: TextTemplate, *, isolates: bool = False) -> Callable[[Environment], str]:
    """Compile a text to a function of the scope; with `isolates` its values are set apart."""
    return _CodeGenerator(isolates=isolates).function(lambda made: made.emit_text(template))


@cache_short(lambda templates: sum(text.length for text in templates))
def compile_texts(
    templates: tuple[TextTemplate, ...], *, collapse: Collapse
) -> Callable[[Environment], tuple[str, ...]]:
    """Compile the cells of a row to one function that returns them all, values set apart.

    `collapse` collapses white space in values.
    """

    def emit(generator: _CodeGenerator) -> str:
        cells = [generator.emit_cell(template, collapse) for template in templates]
        return f"({', '.join(cells)},)"

    return _CodeGenerator(isolates=True).function(emit)


def explain_failure(expression: Expression, scope: Environment) -> str | None:
    """Return why an expression fails in a scope, None if it does not."""
    careful = _CodeGenerator(is_careful=True).function(
        lambda generator: generator.emit_as_text(expression)
    )
    try:
        careful(scope)
    except ExpressionError as error:
        return str(error)
    except EVALUATION_ERRORS:
        return "the value cannot be computed"
    return None


# --- writing ----------------------------------------------------------------------------------------

_GLOBALS: Final[dict[str, object]] = {
    "__builtins__": {"LookupError": LookupError, "TypeError": TypeError, "str": str},
    "Decimal": Decimal,
    "MissingMember": runtime.MissingMember,
    **{name: getattr(runtime, name) for _, name in ARITHMETIC_SIGNS.values()},
    **{name: getattr(runtime, name) for _, name in COMPARISON_SIGNS.values()},
    **{
        function.__name__: function
        for function in (
            runtime.contains,
            runtime.negate,
            runtime.positive,
            runtime.to_text,
            runtime.join_text,
            runtime.item_at,
            runtime.member,
            runtime.look_up,
            runtime.look_up_item,
        )
    },
}


class _CodeGenerator:
    """Generates one Python function: a statement for each step, a local variable for each result."""

    def __init__(
        self, *, is_careful: bool = False, is_row: bool = False, isolates: bool = False
    ) -> None:
        self.is_careful = is_careful
        self.is_row = is_row
        self.isolates = isolates
        self.lines: list[str] = []
        self.globals: dict[str, Any] = dict(_GLOBALS)
        self.indent = 1
        self.count = 0
        self.used: set[str] = set()  # what the function reads of its environment

    def function(self, emit: Callable[[_CodeGenerator], str]) -> Callable[..., Any]:
        """Compile the function.

        `emit` generates its steps and returns the variable of its result.
        """
        result = emit(self)
        head = "def evaluate(item, scope):" if self.is_row else "def evaluate(scope):"
        used = [f"    {name} = scope.{name}" for name in sorted(self.used)]
        source = "\n".join([head, *used, *self.lines, f"    return {result}"])
        exec(_compile(source), self.globals)  # noqa: S102  (our own text)
        made: Callable[..., object] = self.globals.pop("evaluate")
        return made

    def emit_text(self, template: TextTemplate) -> str:
        """Generate the steps of a text."""
        fixed = "".join(part for part in template.parts if isinstance(part, str))
        emit = (
            partial(self.emit_isolated, is_mixed=has_right_to_left(fixed))
            if self.isolates
            else self.emit_as_text
        )
        parts = [repr(part) if isinstance(part, str) else emit(part) for part in template.parts]
        is_sum = 0 < len(parts) <= _MAX_TERMS
        return self.assign(" + ".join(parts) if is_sum else f"''.join([{', '.join(parts)}])")

    def emit_cell(self, template: TextTemplate, collapse: Callable[[str], str]) -> str:
        """Generate the steps of a cell; white space is collapsed where values may contain some."""
        sole = template.sole
        joined = self.emit_text(template)
        if template.literal is not None or (sole is not None and _is_clean(sole.node)):
            return joined
        self.globals["collapse"] = collapse
        return self.assign(f"collapse({joined})")

    def emit_as_text(self, expression: Expression) -> str:
        """Generate the steps of an expression whose value is written as text."""
        value = self.emit(expression.node)
        if _is_text(expression.node):
            return value
        return self.assign(f"{value} if {value}.__class__ is str else to_text({value})")

    def emit_isolated(self, expression: Expression, *, is_mixed: bool) -> str:
        """Generate the steps of an expression whose value is set apart from the text around it."""
        value, node = self.emit_as_text(expression), expression.node
        if isinstance(node, nodes.Filter) and node.name == "unisolated":
            return value
        self.globals["isolate"] = isolate
        if is_mixed:
            return self.assign(f"isolate({value}, is_mixed=True)")
        self.used.add("formats")
        return self.assign(
            f"{value} if {value}.isascii() and not formats.is_rtl"
            f" else isolate({value}, is_mixed=formats.is_rtl)"
        )

    def emit(self, node: nodes.Node) -> str:  # noqa: C901, PLR0911, PLR0912  (one case for each kind)
        """Write the steps of a node; return the variable or literal that holds its value."""
        if self.indent > _MAX_INDENT:
            return self.emit_call(node)
        match node:
            case nodes.Const():
                return self.constant(node.value)
            case nodes.Name():
                return self.assign(self.load(node.name))
            case nodes.Getattr():
                return self.emit_member(node)
            case nodes.Getitem():
                return self.emit_item(node)
            case nodes.And() | nodes.Or():
                return self.emit_choice(node)
            case nodes.Not():
                return self.assign(f"not {self.emit(node.node)}")
            case nodes.Neg() | nodes.Pos():
                called = "negate" if isinstance(node, nodes.Neg) else "positive"
                return self.assign(f"{called}({self.emit(node.node)})")
            case nodes.BinExpr():
                return self.emit_arithmetic(node)
            case nodes.Compare():
                return self.emit_comparison(node)
            case nodes.Concat():
                parts = ", ".join([self.emit(part) for part in node.nodes])
                return self.assign(f"join_text(({parts},))")
            case nodes.CondExpr():
                return self.emit_condition(node)
            case nodes.List():
                return self.assign(f"[{', '.join([self.emit(item) for item in node.items])}]")
            case nodes.Dict():
                return self.emit_record(node)
            case nodes.Filter():
                return self.emit_filter(node)
            case nodes.Test():
                return self.emit_test(node)
            case nodes.Call() if isinstance(node.node, nodes.Name):
                arguments = ", ".join(["scope", *map(self.emit, node.args)])
                return self.assign(f"{self.bind(FUNCTIONS[node.node.name])}({arguments})")
            case _:
                raise AssertionError(f"{type(node).__name__} passed the check")

    def emit_call(self, node: nodes.Node) -> str:
        """Generate the call of a function of its own, as Python bounds the blocks in each other."""
        inner = _CodeGenerator(is_careful=self.is_careful, is_row=self.is_row)
        called = self.bind(inner.function(lambda generator: generator.emit(node)))
        return self.assign(f"{called}({'item, scope' if self.is_row else 'scope'})")

    def emit_member(self, node: nodes.Getattr) -> str:
        """Generate the look-up of a member by its key in a dictionary."""
        holder = self.emit(node.node)
        if self.is_careful:
            return self.assign(f"member({holder}, {node.attr!r})")
        return self.assign(f"{holder}[{node.attr!r}]")

    def emit_item(self, node: nodes.Getitem) -> str:
        """Generate a look-up by position or quoted name."""
        holder, key = self.emit(node.node), self.emit(node.arg)
        return self.assign(f"item_at({holder}, {key})")

    def emit_arithmetic(self, node: nodes.BinExpr) -> str:
        """Generate arithmetic: Decimal's own for two numbers, else a call that explains the error."""
        left, right = self.emit(node.left), self.emit(node.right)
        sign, called = ARITHMETIC_SIGNS[type(node)]
        if sign not in ("+", "-", "*"):
            return self.assign(f"{called}({left}, {right})")
        return self.assign(
            f"{left} {sign} {right} if {left}.__class__ is Decimal and {right}.__class__ is Decimal"
            f" else {called}({left}, {right})"
        )

    def emit_choice(self, node: nodes.And | nodes.Or) -> str:
        """Generate `and` and `or`, whose right operand is evaluated only if needed."""
        result = self.assign(self.emit(node.left))
        self.line(f"if {'' if isinstance(node, nodes.And) else 'not '}{result}:")
        self.indent += 1
        self.line(f"{result} = {self.emit(node.right)}")
        self.indent -= 1
        return result

    def emit_condition(self, node: nodes.CondExpr) -> str:
        """Generate `a if c else b`."""
        test, result = self.emit(node.test), self.variable()
        self.line(f"if {test}:")
        self.indent += 1
        self.line(f"{result} = {self.emit(node.expr1)}")
        self.indent -= 1
        self.line("else:")
        self.indent += 1
        self.line(f"{result} = {self.emit(node.expr2) if node.expr2 is not None else 'None'}")
        self.indent -= 1
        return result

    def emit_comparison(self, node: nodes.Compare) -> str:
        """Generate a chain of comparisons, each evaluated only while those before it hold."""
        result, left = self.variable(), self.emit(node.expr)
        outer = self.indent
        for operand in node.ops:
            right = self.emit(operand.expr)
            self.line(f"{result} = {_comparison(operand.op, left, right)}")
            left = right
            if operand is not node.ops[-1]:
                self.indent = outer
                self.line(f"if {result}:")
                self.indent += 1
        self.indent = outer
        return result

    def emit_record(self, node: nodes.Dict) -> str:
        """Generate a record."""
        pairs = [f"{pair.key.as_const()!r}: {self.emit(pair.value)}" for pair in node.items]
        return self.assign("{" + ", ".join(pairs) + "}")

    def emit_filter(self, node: nodes.Filter) -> str:
        """Generate the call of a filter, by its kind."""
        known = FILTERS[node.name]
        assert node.node is not None
        emit = self.emit_optional if node.name == "default" else self.emit
        value = emit(node.node)
        if known.kind is FilterKind.ROWS:
            return self.emit_row_filter(node, known, value)
        arguments = [self.emit(argument) for argument in node.args]
        options = [(pair.key, self.emit(pair.value)) for pair in node.kwargs]
        if known.kind is FilterKind.MESSAGE:
            record = ", ".join(f"{name!r}: {a}" for name, a in options)
            options_of = f"{{{record}}}, scope, isolates={self.isolates}"
            return self.assign(f"scope.messages.translate({value}, {options_of})")
        if known.kind is FilterKind.LOCALE:
            self.used.add("formats")
            key = (
                f"{node.name!r}, ({''.join(f'{a}, ' for a in arguments)}), "
                f"({''.join(f'({name!r}, {a}), ' for name, a in options)})"
            )
            write = self.assign(f"formats[{key}]")
            return self.assign(f"'' if {value} is None else {write}({value})")
        written = [value, *arguments, *(f"{name}={a}" for name, a in options)]
        return self.assign(f"{self.bind(known.function)}({', '.join(written)})")

    def emit_row_filter(self, node: nodes.Filter, known: Filter, value: str) -> str:
        """Generate a list filter.

        Its row expression is compiled to a function of record and scope.
        """
        text = find_row_expression(node)
        rows = "None"
        if text is not None:
            generator = _CodeGenerator(is_careful=self.is_careful, is_row=True)
            inner = parse_expression(text).node
            function = generator.function(lambda written: written.emit(inner))
            rows = self.bind(_require_records(function, node.name))
        others = [self.emit(argument) for argument in node.args[1:]]
        names = [parameter.name for parameter in known.parameters]
        options = [f"{name}={a}" for name, a in zip(names[1:], others, strict=False)]
        first = names[0]
        options += [f"{p.key}={self.emit(p.value)}" for p in node.kwargs if p.key != first]
        written = ", ".join([value, rows, "scope", *options])
        return self.assign(f"{self.bind(known.function)}({written})")

    def emit_test(self, node: nodes.Test) -> str:
        """Generate `x is …`."""
        if node.name in ("defined", "undefined"):
            sign = "is not" if node.name == "defined" else "is"
            return self.assign(f"{self.emit_optional(node.node)} {sign} None")
        value = self.emit(node.node)
        arguments = "".join(f", {self.emit(argument)}" for argument in node.args)
        return self.assign(f"{self.bind(runtime.TESTS[node.name])}({value}{arguments})")

    def emit_optional(self, node: nodes.Expr) -> str:
        """Generate steps whose missing names and members are an empty value."""
        result = self.variable()
        self.line("try:")
        self.indent += 1
        self.line(f"{result} = {self.emit(node)}")
        self.indent -= 1
        self.line("except (LookupError, TypeError, MissingMember):")
        self.line(f"    {result} = None")
        return result

    def load(self, name: str) -> str:
        """Return the look-up of a name; in a row expression the record's members come first."""
        if self.is_careful:
            called = "look_up_item(item, scope.names" if self.is_row else "look_up(scope.names"
            return f"{called}, {name!r})"
        if self.is_row:
            return f"item[{name!r}] if {name!r} in item else scope.names[{name!r}]"
        self.used.add("names")
        return f"names[{name!r}]"

    def constant(self, value: object) -> str:
        """Return a variable that holds a literal, or a global that holds a number."""
        if value is None or isinstance(value, bool | str):
            return self.assign(repr(value))
        return self.bind(value)

    def bind(self, value: object) -> str:
        """Bind a value to a global of the function; return its name."""
        name = f"k{len(self.globals)}"
        self.globals[name] = value
        return name

    def assign(self, written: str) -> str:
        """Generate a step; return the variable that holds its result."""
        name = self.variable()
        self.line(f"{name} = {written}")
        return name

    def variable(self) -> str:
        """Return a new local variable."""
        self.count += 1
        return f"t{self.count}"

    def line(self, text: str) -> None:
        """Append a line at the current indent."""
        self.lines.append("    " * self.indent + text)


@cache_short(len, max_entries=_CACHED_CODE, max_length=_CACHED_CHARACTERS)
def _compile(source: str) -> CodeType:
    """Return the code object of a function's source; compiling it is half of the time."""
    return compile(source, "<expression>", "exec")


def _comparison(operator: str, left: str, right: str) -> str:
    if operator == "in":
        return f"contains({left}, {right})"
    if operator == "notin":
        return f"not contains({left}, {right})"
    sign, called = COMPARISON_SIGNS[operator]
    return (
        f"{left} {sign} {right} if {left}.__class__ is Decimal and {right}.__class__ is Decimal"
        f" else {called}({left}, {right})"
    )


def _require_records(
    function: Callable[[object, Environment], Value], name: str
) -> Callable[[object, Environment], Value]:
    """Return a row function that refuses items other than records, whose members it reads."""

    def evaluate(item: object, scope: Environment) -> Value:
        if item.__class__ is not dict:
            raise ExpressionError(
                f"{name} with an expression needs a list of records, not of {runtime.describe_type(item)}"
            )
        return function(item, scope)

    return evaluate


def _is_clean(node: nodes.Node) -> bool:
    """Return whether an expression's text never has white space that HTML would collapse."""
    return isinstance(node, nodes.Filter) and FILTERS[node.name].is_collapsed


def _is_text(node: nodes.Node) -> bool:
    """Return whether an expression always evaluates to text."""
    if isinstance(node, nodes.Filter):
        return FILTERS[node.name].kind in (FilterKind.LOCALE, FilterKind.MESSAGE)
    return isinstance(node, nodes.Concat) or (
        isinstance(node, nodes.Const) and isinstance(node.value, str)
    )
