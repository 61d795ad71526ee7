"""Pictures of the public templates."""
