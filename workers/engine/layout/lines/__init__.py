"""Line breaking and the drawing of lines.

The inline content of a paragraph is split at forced breaks into horizontal lists (TeX's term):
boxes with the boundary that follows each. A box is a word, or a part of a word where the glyph
style changes inside it. Each box stores where it starts and ends, in points, as if the list were
one endless line, so the text between two breakpoints is as wide as the difference of two numbers
and the end of a line is found by bisection. Greedy breaking (first fit) is linear in the text;
optimal.py has total fit.

Soft wrap opportunities (CSS Text 3 §5.1) are spaces, hyphens and dashes between letters, soft
hyphens, which are visible at the end of a line, U+200B, and those of the script (opportunities.py);
never U+00A0, U+202F or U+2060. A word wider than its line starts a line and breaks between any two
grapheme clusters, unless `overflow-wrap` is `normal` (CSS Text 3 §5.5).

Boxes stay in logical order; the fragments of a line are reordered visually once the line is
complete (bidi.py).

A line box is as high as the line height of the paragraph, and higher where larger characters or
images need it (CSS 2 §10.8). Raised and lowered text grows a line only where its capitals would
stick out.
"""
