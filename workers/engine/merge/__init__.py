"""Stage two: overlay payloads on templates; merge, convert and validate data."""
