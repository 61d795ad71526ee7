"""The language server: `pressroom lsp`."""
