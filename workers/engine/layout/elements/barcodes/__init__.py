"""Bar codes: checked values encoded as the modules of a symbol."""
