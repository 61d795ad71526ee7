"""Images: detected by their bytes and prepared once as PDF streams."""
