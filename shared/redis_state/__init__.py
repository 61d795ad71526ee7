"""State in Redis besides the queue: cached keys and references, usage counters, rates, sessions."""
