"""Batches: many documents in one call, and what became of each."""
