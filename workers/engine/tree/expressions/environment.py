"""The environment of an expression: the names it may read, and what filters and messages need."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.tree.expressions.formats import DEFAULT_LANGUAGE, Formats
from workers.engine.tree.expressions.runtime import Value

# Known in every part; `page` and `totals` are known at page time, and beside tables.
DOCUMENT_NAMES: Final = frozenset({"data", "now", "today", "doc"})
PAGE_NAMES: Final = frozenset({"page"})
RUNNING: Final = "running"  # running values: in headers, footers and boxes of pages
SHEET: Final = "sheet"  # of a page: there too, in a document that says whether it is duplex
TOTALS: Final = "totals"  # carried totals: in their table, and after it
OF_A_PAGE: Final = PAGE_NAMES | {TOTALS, RUNNING, SHEET}  # with another value on every page


class EvaluationState:
    """What one build counts and reports while expressions are evaluated."""

    __slots__ = ("_ranged", "findings")

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._ranged = 0

    def count_range(self, numbers: int) -> int:
        """Count the numbers of a range; return those of all ranges so far."""
        self._ranged += numbers
        return self._ranged


class Environment:
    """The names of data, loops and `let`s, the formats of the nearest `lang`, and the messages."""

    messages: Any  # a `messages.MessageCatalog`, in documents that show messages
    language = DEFAULT_LANGUAGE  # of the document, for messages that the nearest `lang` lacks

    def __init__(
        self, names: dict[str, Value], formats: Formats, state: EvaluationState | None = None
    ) -> None:
        self.names = names
        self.formats = formats
        self.state = state or EvaluationState(Findings())
