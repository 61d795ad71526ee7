"""Slices of batches and of accepted renders, and the PDF of a merged batch."""
