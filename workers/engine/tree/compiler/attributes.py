"""Attributes of an element: constants, or expressions parsed by their value type once evaluated."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Generic, TypeVar

from workers.engine.diagnostics import SourceLocation, SourceSpan
from workers.engine.syntax.values import TEXT
from workers.engine.syntax.vocabulary import ELEMENTS, AttributeSpec
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.expressions.compiler import compile_text
from workers.engine.tree.expressions.formats import HYPHEN_MINUS, MINUS_SIGN
from workers.engine.tree.expressions.grammar import (
    TextTemplate,
)

T = TypeVar("T")


_NOWHERE: Final = SourceLocation("", SourceSpan(1, 1, 1, 1))


@cache
def default_attribute(tag: str, name: str) -> CompiledAttribute[Any]:
    """Return the compiled attribute of an element that does not state it, one for all such elements."""
    spec = ELEMENTS[tag].attributes[name]
    default = None if spec.default is None else spec.value_type.parse(spec.default)
    return CompiledAttribute(spec, _NOWHERE, default, None)


class CompiledAttribute(Generic[T]):
    """A compiled attribute: a constant, or an expression whose result its value type parses."""

    __slots__ = ("_evaluation", "constant", "location", "spec", "template")

    def __init__(
        self,
        spec: AttributeSpec,
        location: SourceLocation,
        constant: T,
        template: TextTemplate | None,
    ) -> None:
        self.spec = spec
        self.location = location
        self.constant = constant
        self.template = template
        self._evaluation = (
            None
            if template is None
            else Evaluation(compile_text(template), template.expressions, location, "")
        )

    @property
    def is_static(self) -> bool:
        """Whether the value does not depend on data."""
        return self._evaluation is None

    def read_text(self, scope: Scope) -> str:
        """Return the evaluated text of an attribute that is not static."""
        assert self._evaluation is not None
        text: str = self._evaluation.evaluate(scope)
        return text

    def read(self, scope: Scope) -> T:
        """Return the value; an attribute that evaluates to an empty text has its default."""
        if self._evaluation is None:
            return self.constant
        return self.parse(self.read_text(scope), scope)

    def parse(self, text: str, scope: Scope) -> T:
        """Return an evaluated text parsed by the value type.

        A wrong value is reported and replaced by the default.
        """
        kind = self.spec.value_type
        if kind is not TEXT:
            if text == "":
                return self.constant
            text = text.replace(MINUS_SIGN, HYPHEN_MINUS)  # of a number that a filter formatted
        try:
            value: T = kind.parse(text)
        except ValueError as error:
            shown = text if len(text) <= 20 else text[:20] + "…"
            scope.state.findings.error(
                "wrong-value",
                f'The attribute "{self.spec.name}" evaluates to "{shown}"; accepted is {error}',
                self.location,
            )
            return self.constant
        return value
