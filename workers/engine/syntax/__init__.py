"""Stage one: parse the text of a document into a tree of elements with source locations."""
