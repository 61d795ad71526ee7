"""Batches: many documents in one request, and the result of each."""
