"""Checks of electronic invoices from elsewhere."""
