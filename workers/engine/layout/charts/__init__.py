"""Charts: scales and ticks, stacking, labels without overlap, and drawing."""
