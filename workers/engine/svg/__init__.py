"""SVG: a bounded parser, and a converter to PDF operators that keeps drawings as vectors."""

from workers.engine.svg.canvas import DocumentPart, DrawnText, VectorImage
from workers.engine.svg.color_glyphs import DrawnGlyph, draw_color_glyphs, is_drawn_in_colors
from workers.engine.svg.reader import is_svg
from workers.engine.svg.rendering import convert_svg
