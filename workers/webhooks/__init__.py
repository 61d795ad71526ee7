"""Delivery of webhooks from the outbox."""
