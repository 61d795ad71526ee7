"""Batches: reading their documents, their chunks, items and results, and which slice is next."""
