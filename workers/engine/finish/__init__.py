"""Stage six: add metadata, attachments, the draft mark and encryption to a PDF."""
