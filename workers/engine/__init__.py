"""The document engine: bytes in, PDF out; no server, no clock, no network."""
