"""Small atomic counts and cached states in Redis."""
