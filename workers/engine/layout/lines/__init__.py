"""Lines: how inline content is broken into lines of one width, and how lines are drawn.

The text of a paragraph is cut at forced breaks into strips. A strip is a row of units: words, or
parts of words where the look changes in the middle. Each unit knows where it would begin and end
if the strip were one endless line; so the text between two opportunities is as wide as the
difference of two numbers, and a line is found by one bisection. Breaking is greedy and linear in
the text.

Lines may break at spaces, after a hyphen or dash between letters, at a soft hyphen (which then
shows), at U+200B, and where the script has opportunities of its own (lines/opportunities.py);
never at U+00A0, U+202F or U+2060. A word wider than the line goes on a line of its own and breaks
between any two characters, unless `overflow-wrap` is `normal`.

Text that reads from right to left stands in the strip in the order of reading; the parts of a line
are put in the order they are seen in when the line is complete (lines/bidi.py).

A line is as high as the paragraph's line height, more where larger characters or images need it
(CSS 2, 10.8). Raised and lowered text does not spread lines unless its capitals would stick out.
"""

from workers.engine.layout.lines.breaking import arrange, break_lines, measure_inlines
from workers.engine.layout.lines.drawing import draw_lines, draw_text
from workers.engine.layout.lines.heights import line_metrics
from workers.engine.layout.lines.parts import Inset, Line, Lines, Look, Part, Place

__all__ = [
    "Inset",
    "Line",
    "Lines",
    "Look",
    "Part",
    "Place",
    "arrange",
    "break_lines",
    "draw_lines",
    "draw_text",
    "line_metrics",
    "measure_inlines",
]
