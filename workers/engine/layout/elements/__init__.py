"""The layout functions of the elements, one module for each family."""
