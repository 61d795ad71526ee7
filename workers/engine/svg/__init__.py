"""SVG: a bounded parser, and a converter to PDF operators that keeps drawings as vectors."""
