"""Authentication: API keys, session cookies, and the account of a request."""
