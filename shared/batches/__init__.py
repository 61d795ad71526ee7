"""Batches: reading their documents, and their chunks, items and results as values."""
