"""Fonts of a workspace."""
