"""The deliverer of webhooks: what stands in the outbox is told to whom it concerns."""
