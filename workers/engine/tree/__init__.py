"""Stage three: a merged template is compiled once, then builds a document for each set of data."""
