"""Fonts and word lists of further scripts, as files: see SOURCES.txt."""
