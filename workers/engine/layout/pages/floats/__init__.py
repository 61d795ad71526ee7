"""Figures that float to the top or bottom of an area."""
