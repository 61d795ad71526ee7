"""Extraction of the fields of filled-in forms."""
