"""Images: judged by their bytes, prepared once as what a PDF holds."""
