"""Webhooks: where an account is told of what has ended (contract.md 6)."""
