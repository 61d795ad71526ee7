"""The demo: a farm of its own, four documents of four kinds, and what they cost."""
