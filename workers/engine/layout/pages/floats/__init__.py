"""Figures that float to the top or bottom of an area (language-2.md, notes, running heads, figures)."""
