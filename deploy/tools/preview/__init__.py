"""Previews of local files in a browser: `pressroom preview` (decision 0526)."""
