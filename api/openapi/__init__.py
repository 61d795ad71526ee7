"""The OpenAPI description of the interface."""
