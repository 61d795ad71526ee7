"""Webhooks: notifications about finished jobs and batches (contract.md 6)."""
