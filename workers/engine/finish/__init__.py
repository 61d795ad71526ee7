"""Stage six: a raw PDF gets metadata, marks and security."""
