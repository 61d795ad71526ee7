"""The scope of expressions: names of data and loops, and the keys under which a build keeps its own.

A key that starts with `#` is not an identifier, so no expression can read it.
"""

from __future__ import annotations

from typing import Any, Final

Scope = dict[str, Any]
Value = Any  # str, Decimal, bool, date, datetime, time, dict, list or None (merge/declarations.py)

FORMATS: Final = "#formats"  # the LocaleFormats of the nearest `lang`
MESSAGES: Final = "#messages"  # the Translator of the document
STATE: Final = "#state"  # the BuildState
LOOP: Final = "#loop"  # the loop iterations around, outermost first
NOTE_PARENT: Final = "#note-parent"  # the style of the flow, from which notes inherit
FIGURE_ID: Final = "#figure"  # in a figure: its id, or None
FRAGMENT_IDS: Final = "#fragments"  # in a Markdown text: the ids of its headings in this document

# Known in every part; `page` and `totals` are in scope at page time, and beside tables.
DOCUMENT_NAMES: Final = frozenset({"data", "now", "today", "doc"})
PAGE_NAMES: Final = frozenset({"page"})
RUNNING: Final = "running"  # running values: in headers, footers and boxes of pages
TOTALS: Final = "totals"  # carried totals: in their table, and after it
