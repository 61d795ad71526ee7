"""Who is asking: the key of a request and what it opens."""
