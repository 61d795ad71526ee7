"""Table layout: column widths, rows, collapsed borders and fragments."""
