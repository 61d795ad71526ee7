"""Stage two: payloads are laid over templates, and data is merged, converted and checked."""
