"""Compilation shared by all elements: attributes, styles, loops, conditions, parts and slots."""
