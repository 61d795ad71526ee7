"""Pages of PDF files as content: read within limits, without anything active, ready to be written again."""
