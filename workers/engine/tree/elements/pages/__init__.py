"""Pages: page masters, headers and footers, page boxes, and watermarks."""
