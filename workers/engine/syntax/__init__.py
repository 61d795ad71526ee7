"""Stage one: the text of a document becomes a tree of elements with places."""
