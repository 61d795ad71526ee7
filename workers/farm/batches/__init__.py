"""Batches in the worker: a slice of documents at a time, and the one PDF of a merged batch."""
