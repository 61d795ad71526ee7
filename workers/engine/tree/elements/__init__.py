"""Elements: one module for each kind, compiled once and built for each document."""
