"""The render queue on Redis: names, broker, claims, commits and replies."""
