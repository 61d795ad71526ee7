"""Admission of requests: rate limits, body sizes and page allowances."""
