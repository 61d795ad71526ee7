"""Tables: columns, rows, spanning cells, and carried totals."""
