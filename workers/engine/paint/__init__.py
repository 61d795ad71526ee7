"""Stage five: pages become a raw PDF."""
