"""The maintenance process: requeues lost work and deletes expired data."""
