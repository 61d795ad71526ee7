"""Stage five: write laid-out pages as a PDF."""
