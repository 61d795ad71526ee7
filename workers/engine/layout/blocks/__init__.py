"""Block layout: boxes, stacks, columns and what they share (CSS 2.2, 9 and 10)."""
