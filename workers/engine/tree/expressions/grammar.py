"""The grammar of expressions: Jinja2's, parsed by its own parser, and restricted to a subset.

Precedence and literals are those of Jinja2. Whatever is not part of the language is refused here,
with the accepted values; the rest is compiled by `expressions.compiler`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from inspect import Signature
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import Lexer, Token
from jinja2.parser import Parser

from workers.engine.caches import cache_short
from workers.engine.syntax.lexer import read_brackets
from workers.engine.tree.expressions import runtime
from workers.engine.tree.expressions.filters import (
    FILTERS,
    NEEDS_EXPRESSION,
    Filter,
    FilterKind,
    make_range,
)
from workers.engine.tree.expressions.formats import MAX_PLACES
from workers.engine.tree.expressions.runtime import Value

MAX_LENGTH: Final = 10_000
MAX_NESTING: Final = 32
MAX_CHAIN: Final = 200  # terms of one sum, steps of one path
FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {"range": make_range}


class ExpressionSyntaxError(Exception):
    """An expression is not part of the language.

    The text names the error and the accepted values.
    """


class MessageUse(NamedTuple):
    """A message that an expression shows: its key, None if it depends on data, and its arguments."""

    key: str | None
    arguments: frozenset[str]


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed and checked expression; `names` are the names it requires in the scope.

    `row_names` are names in its row expressions, which may also be members of the rows. All follows
    from the text, so expressions are equal if they are written alike.
    """

    text: str
    node: nodes.Expr = field(compare=False)
    names: frozenset[str] = field(compare=False)
    row_names: frozenset[str] = field(compare=False)
    hints: tuple[str, ...] = field(default=(), compare=False)
    messages: tuple[MessageUse, ...] = field(default=(), compare=False)

    @property
    def all_names(self) -> frozenset[str]:
        """Every name the expression mentions."""
        return self.names | self.row_names

    def members_of(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the members that it reads of a name, each with the member it reads of them in turn."""
        if name not in self.all_names:
            return ()
        return tuple(path[1:3] for path in self.paths if path[0] == name and len(path) == 3)

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The members it reads, each as the path to it: `buyer.name`, and `buyer.name.first`."""
        return _find_paths(self)


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A text with expressions in it: its literal parts and expressions, in order."""

    parts: tuple[str | Expression, ...]

    @property
    def length(self) -> int:
        """The number of characters, without those of braces."""
        return sum(len(part if isinstance(part, str) else part.text) for part in self.parts)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions alone."""
        return tuple(part for part in self.parts if isinstance(part, Expression))

    @property
    def sole(self) -> Expression | None:
        """The expression of a text that is exactly one: its value keeps its type."""
        return (
            self.parts[0] if len(self.parts) == 1 and not isinstance(self.parts[0], str) else None
        )

    @property
    def literal(self) -> str | None:
        """The text if no expression is in it."""
        return None if self.expressions else "".join(str(part) for part in self.parts)


@cache_short(lambda expression: len(expression.text))
def _find_paths(expression: Expression) -> tuple[tuple[str, ...], ...]:
    members = (expression.node, *expression.node.find_all(nodes.Getattr))
    return tuple(path for member in members if len(path := path_of(member)) > 1)


def path_of(node: nodes.Node) -> tuple[str, ...]:
    """Return a name and the members read of it, empty for anything else."""
    names: list[str] = []
    while isinstance(node, nodes.Getattr):
        names.append(node.attr)
        node = node.node
    return (node.name, *reversed(names)) if isinstance(node, nodes.Name) else ()


# A filter directly after a factor; with brackets around the two it would be intended.
_FACTOR_FILTER: Final = re.compile(r"[*/]\s*[\w.]+\s*\|")


@cache_short(len)
def parse_expression(text: str) -> Expression:
    """Parse and check an expression, as written between the braces.

    Raises:
        ExpressionSyntaxError: it is not part of the language.
    """
    node = _parse(text)
    check = _GrammarChecker()
    check.visit(node)
    return Expression(
        text.strip(),
        node,
        frozenset(check.names),
        frozenset(check.row_names),
        tuple(check.hints) if _FACTOR_FILTER.search(text) else (),
        tuple(check.messages),
    )


def parse_text(text: str) -> TextTemplate:
    """Parse a text with `{{ … }}` in it.

    Raises:
        ExpressionSyntaxError: an expression is not part of the language, or is not closed.
    """
    parts: list[str | Expression] = []
    at = 0
    while True:
        begin = text.find("{{", at)
        if begin < 0:
            break
        end = _find_end(text, begin + 2)
        if begin > at:
            parts.append(text[at:begin])
        parts.append(parse_expression(text[begin + 2 : end]))
        at = end + 2
    if at < len(text) or not parts:
        parts.append(text[at:])
    return TextTemplate(tuple(parts))


# --- reading ----------------------------------------------------------------------------------------


class _ExactLexer(Lexer):
    """Jinja2's lexer, with numbers as the exact decimals written."""

    def wrap(
        self,
        stream: Iterable[tuple[int, str, str]],
        name: str | None = None,
        filename: str | None = None,
    ) -> Iterator[Token]:
        written: deque[str] = deque()

        def record_numbers() -> Iterator[tuple[int, str, str]]:
            for item in stream:
                if item[1] in ("float", "integer"):
                    written.append(item[2])
                yield item

        for token in super().wrap(record_numbers(), name, filename):
            if token.type in ("float", "integer"):
                yield Token(token.lineno, token.type, _to_decimal(written.popleft()))  # type: ignore[arg-type]
            else:
                yield token


def _to_decimal(written: str) -> Decimal:
    text = written.replace("_", "")
    if not re.fullmatch(r"[0-9]{1,40}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", text):
        raise ExpressionSyntaxError(
            f'"{written[:40]}" is not a number: accepted are digits, at most {MAX_PLACES} decimals'
        )
    number = Decimal(text)
    if number and abs(number.adjusted()) > runtime.MAX_MAGNITUDE:
        raise ExpressionSyntaxError(f'"{written[:40]}" is too large or too small')
    return number


class _Environment(Environment):
    """The settings of the parser; it compiles and loads nothing."""

    @property
    def lexer(self) -> Lexer:
        """The lexer that keeps numbers exact."""
        return _LEXER


_ENVIRONMENT: Final = _Environment()
_LEXER: Final = _ExactLexer(_ENVIRONMENT)


def _parse(text: str) -> nodes.Expr:
    if len(text) > MAX_LENGTH:
        raise ExpressionSyntaxError(f"an expression has at most {MAX_LENGTH:,} characters")
    if not text.strip():
        raise ExpressionSyntaxError("the expression is empty")
    if max((depth for _, _, depth in read_brackets(text)), default=0) >= MAX_NESTING:
        raise ExpressionSyntaxError(f"brackets are nested more than {MAX_NESTING} deep")
    try:
        parser = Parser(_ENVIRONMENT, text, state="variable")
        node = parser.parse_expression()
    except TemplateSyntaxError as error:
        message = _find_habit(text) or _translate_error(error.message or "it cannot be read")
        raise ExpressionSyntaxError(message) from None
    except RecursionError:
        raise ExpressionSyntaxError("the expression is nested too deeply") from None
    except (ValueError, SyntaxError):
        raise ExpressionSyntaxError("a number or text in it cannot be read") from None
    if not parser.stream.eos:
        left = parser.stream.current
        shown = left.value if left.type != "data" else "}}"
        raise ExpressionSyntaxError(
            _find_habit(text) or f'"{str(shown)[:20]}" is not expected after the expression'
        )
    return node


_QUOTED: Final = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`""")
# What is written in other languages of templates and data, and what is written here.
_HABITS: Final = tuple(
    (re.compile(sign), message)
    for sign, message in (
        (r"^\s*[#/^>]", "parts are called by <use>, and if and for are attributes of elements"),
        (r"^\{[^:,]*$", "two braces suffice: values are text and never markup"),
        (r"\?\?|\?:", "a value for a missing one is written name | default(other)"),
        (r"\?.*:", "a choice is written one if condition else other"),
        (r"!?==(?==)|=(?==)=|<>|(?<![=!<>])=(?!=)", "values are compared by == != < <= > >="),
        (r"&&|\|\||!(?!=)", "conditions are joined by and and or, and denied by not"),
        (r"\|\s*\w+\s*:", "what a filter takes stands in brackets, as in name | default(other)"),
        (r"[$@]|\.\./", "names are written alone, as in customer.name"),
    )
)


def _find_habit(text: str) -> str | None:
    """Return what is written instead of something of another language, if an expression has such."""
    bare = _QUOTED.sub("", text)
    return next((message for sign, message in _HABITS if sign.search(bare)), None)


def _translate_error(message: str) -> str:
    """Replace the parser's own terms in a message."""
    for theirs in ("end of template", "end of print statement"):
        if message == f"unexpected '{theirs}'":
            return "the expression ends too early"
        message = message.replace(f"'{theirs}'", "the end").replace(theirs, "the end")
    return message[:1].lower() + message[1:].rstrip(".")


def _find_end(text: str, start: int) -> int:
    """Return the position of the `}}` that closes an expression, not one in quotes or a record."""
    for at, sign, depth in read_brackets(text, start):
        if sign == "}" and depth < 0:
            if text.startswith("}}", at):
                return at
            break
    raise ExpressionSyntaxError(
        f'the expression "{{{{{text[start : start + 20]}…" is not closed with }}}}'
    )


# --- checking ---------------------------------------------------------------------------------------

ARITHMETIC_SIGNS: Final[dict[type[nodes.Expr], tuple[str, str]]] = {
    nodes.Add: ("+", "add"),
    nodes.Sub: ("-", "subtract"),
    nodes.Mul: ("*", "multiply"),
    nodes.Div: ("/", "divide"),
    nodes.FloorDiv: ("//", "divide_whole"),
    nodes.Mod: ("%", "remainder"),
}
COMPARISON_SIGNS: Final[dict[str, tuple[str, str]]] = {
    "eq": ("==", "equal"),
    "ne": ("!=", "unequal"),
    "lt": ("<", "less"),
    "lteq": ("<=", "less_equal"),
    "gt": (">", "greater"),
    "gteq": (">=", "greater_equal"),
}


_ACCEPTED: Final = frozenset(
    (
        *(nodes.Const, nodes.Name, nodes.Getattr, nodes.Getitem, *ARITHMETIC_SIGNS, nodes.And),
        *(nodes.Or, nodes.Neg, nodes.Pos, nodes.Not, nodes.Compare, nodes.Operand, nodes.Concat),
        *(nodes.CondExpr, nodes.List, nodes.Dict, nodes.Pair, nodes.Filter, nodes.Keyword),
        *(nodes.Test, nodes.Call),
    )
)
_REFUSED: Final[dict[type[nodes.Node], str]] = {
    nodes.Pow: "** is not part of the language; write a * a",
    nodes.Slice: "[a:b] is not part of the language; use take and skip",
    nodes.Tuple: "a list is written in square brackets: [a, b]",
}


@dataclass
class _GrammarChecker:
    """One pass over an expression: rejects syntax outside the language, collects names and hints."""

    names: set[str] = field(default_factory=set)
    row_names: set[str] = field(default_factory=set)
    hints: list[str] = field(default_factory=list)
    messages: list[MessageUse] = field(default_factory=list)

    def visit(self, node: nodes.Node, chain: int = 0) -> None:
        """Check a node and those in it; `chain` counts the steps down to it, which bounds recursion."""
        if chain > MAX_CHAIN:
            raise ExpressionSyntaxError(f"the expression has more than {MAX_CHAIN} steps in a row")
        if type(node) not in _ACCEPTED:
            other = f"{type(node).__name__} is not part of the language"
            raise ExpressionSyntaxError(_REFUSED.get(type(node), other))
        inner = node.iter_child_nodes()
        match node:
            case nodes.Name():
                self.names.add(node.name)
            case nodes.Mul() | nodes.Div():
                self._add_hint(node)
            case nodes.Dict():
                _check_record(node)
            case nodes.Filter():
                inner = self._visit_filter(node, chain)
            case nodes.Test():
                inner = self._visit_test(node, chain)
            case nodes.Call():
                _check_call(node)
                inner = iter(node.args)
        for part in inner:
            self.visit(part, chain + 1)

    def _add_hint(self, node: nodes.BinExpr) -> None:
        known = FILTERS.get(node.right.name) if isinstance(node.right, nodes.Filter) else None
        if known is not None and known.is_number:
            self.hints.append(
                f"the filter {known.name} applies to the last factor alone; "
                f"write (a {node.operator} b) | {known.name} if it is meant for both"
            )

    def _visit_filter(self, node: nodes.Filter, chain: int) -> Iterator[nodes.Node]:
        """Check a filter and what need not be known in it; return its other arguments."""
        known = FILTERS.get(node.name)
        if known is None:
            near = runtime.suggest_identifier(node.name, FILTERS)
            raise ExpressionSyntaxError(f'the filter "{node.name}" is not known{near}')
        assert node.node is not None
        if node.name == "default":
            self._visit_optional(node.node, chain + 1)
        else:
            self.visit(node.node, chain + 1)
        _check_arguments(known, node)
        if known.kind is FilterKind.MESSAGE:
            self.messages.append(_message_use(node))
        rows = find_row_expression(node) if known.kind is FilterKind.ROWS else None
        if rows is not None:
            self._visit_optional(_parse(rows), chain + 1)
        written = _row_argument(node, known)
        arguments = (*node.args, *(pair.value for pair in node.kwargs))
        return (argument for argument in arguments if argument is not written)

    def _visit_test(self, node: nodes.Test, chain: int) -> Iterator[nodes.Node]:
        """Check a test and what need not be known in it; return its operands."""
        if node.name in ("defined", "undefined"):
            self._visit_optional(node.node, chain + 1)
            return iter(())
        if node.name not in runtime.TESTS:
            near = runtime.suggest_identifier(node.name, runtime.TESTS)
            raise ExpressionSyntaxError(f'the test "is {node.name}" is not known{near}')
        takes = 1 if node.name in _TESTS_WITH_ARGUMENT else 0
        if len(node.args) != takes or node.kwargs or node.dyn_args or node.dyn_kwargs:
            wanted = "one value" if takes else "no value"
            raise ExpressionSyntaxError(f'"is {node.name}" takes {wanted} after it')
        return node.iter_child_nodes()

    def _visit_optional(self, node: nodes.Expr, chain: int) -> None:
        """Check an expression whose names need not be known: of rows, or of `default` and `is defined`."""
        inner = _GrammarChecker()
        inner.visit(node, chain)
        self.row_names |= inner.row_names | inner.names
        self.hints += inner.hints
        self.messages += inner.messages


def _check_record(node: nodes.Dict) -> None:
    for pair in node.items:
        if not (isinstance(pair.key, nodes.Const) and isinstance(pair.key.value, str)):
            raise ExpressionSyntaxError("the names in a record are quoted texts: {'name': value}")


def _check_call(node: nodes.Call) -> None:
    name = node.node.name if isinstance(node.node, nodes.Name) else None
    if name not in FUNCTIONS:
        if name in FILTERS:
            raise ExpressionSyntaxError(f'"{name}" is a filter: write value | {name}')
        shown = f'"{name}"' if name else "this"
        raise ExpressionSyntaxError(
            f"{shown} is not a function; the only functions are {', '.join(FUNCTIONS)}, "
            "filters are written after a bar, as in name | upper"
        )
    if node.kwargs or node.dyn_args or node.dyn_kwargs or not 1 <= len(node.args) <= 2:
        raise ExpressionSyntaxError(f"{name} takes one or two numbers")


_TESTS_WITH_ARGUMENT: Final = frozenset({"divisibleby", "eq", "ne", "lt", "le", "gt", "ge", "in"})


def _row_argument(node: nodes.Filter, known: Filter) -> nodes.Expr | None:
    """Return the argument that is a row expression, as written."""
    if known.kind is not FilterKind.ROWS:
        return None
    if node.args:
        return node.args[0]
    name = known.parameters[0].name
    return next((pair.value for pair in node.kwargs if pair.key == name), None)


def find_row_expression(node: nodes.Filter) -> str | None:
    """Return the row expression of a list filter, None if it has none."""
    argument = _row_argument(node, FILTERS[node.name])
    if argument is None:
        if node.name in NEEDS_EXPRESSION:
            raise ExpressionSyntaxError(f"{node.name} needs a quoted expression: {node.name}('…')")
        return None
    if isinstance(argument, nodes.Const) and isinstance(argument.value, str):
        return argument.value
    raise ExpressionSyntaxError(f"{node.name} takes its expression in quotes: {node.name}('…')")


def _message_use(node: nodes.Filter) -> MessageUse:
    key = node.node.value if isinstance(node.node, nodes.Const) else None
    names = frozenset(str(pair.key) for pair in node.kwargs)
    return MessageUse(key if isinstance(key, str) else None, names)


def _check_arguments(known: Filter, node: nodes.Filter) -> None:
    given = [str(pair.key) for pair in node.kwargs]
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise ExpressionSyntaxError(f"{known.name} takes `{twice}` once")
    if known.kind is FilterKind.MESSAGE:
        if node.args or node.dyn_args is not None or node.dyn_kwargs is not None:
            raise ExpressionSyntaxError("t takes its arguments by name: 'key' | t(n=count)")
        return
    written = Signature(known.parameters)
    # Whether a list filter needs its expression is told by itself.
    bind = written.bind_partial if known.kind is FilterKind.ROWS else written.bind
    try:
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            raise TypeError("unpacked arguments")
        bind(*node.args, **dict.fromkeys(given))
    except TypeError:
        raise ExpressionSyntaxError(f"the filter is used as {known.usage}") from None
