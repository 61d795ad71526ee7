"""Received files that are read and not kept: electronic invoices and filled-in forms."""
