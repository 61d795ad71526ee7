"""Rendering one job: its resources and limits, the engine, and its outcome."""
