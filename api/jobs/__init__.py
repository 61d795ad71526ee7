"""Recorded jobs: accepted, awaited, read, cancelled; and idempotency keys."""
