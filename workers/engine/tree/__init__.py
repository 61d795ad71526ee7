"""Stage three: the merged tree and its data become a concrete document."""
