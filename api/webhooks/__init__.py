"""Webhooks: notifications about finished jobs and batches."""
