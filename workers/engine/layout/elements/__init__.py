"""One module for each family of elements that layout places."""
