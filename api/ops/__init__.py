"""Liveness, readiness and metrics, without a key."""
