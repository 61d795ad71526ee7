"""Previews: records that front and workers exchange."""
