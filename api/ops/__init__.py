"""Health, readiness and metrics, without a key."""
